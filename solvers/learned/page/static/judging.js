// The judge in a worker, so that the page stays quick while it works; each graph is judged once.
import { task } from "./data.js";

export function startJudge(data) {
  const code = document.getElementById("judge-code").textContent;
  const answer = `onmessage = ({ data: { key, task } }) => {
    const started = performance.now();
    try {
      const verdict = $judge.judge(task);
      postMessage({ key, verdict: { ...verdict, milliseconds: performance.now() - started } });
    } catch ({ message }) {
      postMessage({ key, refused: message });
    }
  };`;
  const address = URL.createObjectURL(new Blob([code, "\n", answer], { type: "text/javascript" }));
  const worker = new Worker(address);
  const asked = new Map();
  const waiting = new Map();
  worker.onmessage = ({ data: { key, verdict, refused } }) => {
    if (verdict) waiting.get(key).resolve(verdict);
    else waiting.get(key).reject(new Error(refused));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    for (const { reject } of waiting.values()) reject(new Error(event.message));
  };
  return function judged(key) {
    if (!asked.has(key)) {
      asked.set(key, new Promise((resolve, reject) => waiting.set(key, { resolve, reject })));
      worker.postMessage({ key, task: task(data, key) });
    }
    return asked.get(key);
  };
}
