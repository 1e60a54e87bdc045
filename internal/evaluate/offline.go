package evaluate

// OfflineJudge is the name of the judge that needs no model.
const OfflineJudge = "cairn-offline"

// Judge judges a case without a model: by content words, numbers, dates and negations. It is
// deterministic. It cannot see that other words mean the same, so its scores are lower than those of
// a model where answers paraphrase.
func Judge(c Case) Judgement { panic("not built") }
