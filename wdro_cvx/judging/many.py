from wdro_cvx.judge import judge


def judge_many(problems, answers):
    return [judge(p, a) for p, a in zip(problems, answers, strict=True)]
