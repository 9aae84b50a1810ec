"""The finished questions: each is one study, run by `wdro study NAME`."""
