"""The table of small problems has a line for every model and size."""

from experiments.bench import small


def test_every_model_is_timed_alone_and_together(capsys, monkeypatch):
    monkeypatch.setattr(small, "_ROUNDS", 1)
    small.main(["--sizes", "4", "--count", "2"])
    lines = capsys.readouterr().out.strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [line[0] for line in cells] == list(small._MODELS)
    assert all(line[1] == "4" and line[2].endswith("ms") for line in cells)
    assert all(float(line[4]) > 0.0 and line[5].endswith("×") for line in cells)
    named = {line[0] for line in cells if line[6]}
    assert named >= {"Gaussian ball", "moment ball"}  # PIQP may not be installed
