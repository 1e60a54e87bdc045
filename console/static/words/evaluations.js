// The words of the pages of evaluations, which load them.

import { table } from "./common.js";

export const evaluations = table({
  "eval.set": ["Test set", "Testsatz"],
  "eval.progress": ["Judged", "Bewertet"],
  "eval.counts": ["{judged} of {total}, {failed} failed", "{judged} von {total}, {failed} fehlgeschlagen"],
  "eval.score": ["Answer", "Antwort"],
  "eval.context": ["Context", "Kontext"],
  "eval.faithfulness": ["Faithfulness", "Treue"],
  "eval.ndcg10": ["NDCG@10", "NDCG@10"],
  "eval.recall10": ["Recall@10", "Recall@10"],
  "eval.mrr10": ["MRR@10", "MRR@10"],
  "eval.latency": ["Seconds", "Sekunden"],
  "eval.tokens": ["Tokens", "Tokens"],
  "eval.measure": ["Measure", "Maß"],
  "eval.mean": ["Mean", "Mittel"],
  "eval.interval": ["95 % interval", "95-%-Intervall"],
  "eval.questions": ["Questions", "Fragen"],
  "eval.judge": ["Judge", "Bewertung durch"],
  "eval.kappa": ["Agreement with people (kappa)", "Übereinstimmung mit Menschen (Kappa)"],
  "eval.items": ["Answers", "Antworten"],
  "eval.item": ["Question", "Frage"],
  "eval.reason": ["Reason", "Begründung"],
  "eval.reference": ["Expected", "Erwartet"],
  "eval.review": ["Your score", "Ihre Wertung"],
  "eval.none": ["No evaluations. cairn evaluate, or POST evaluations, starts one.", "Keine Auswertungen. cairn evaluate oder POST evaluations beginnt eine."],
  "eval.none.items": ["No answers yet.", "Noch keine Antworten."],
  "eval.cancel": ["Cancel the evaluation", "Auswertung abbrechen"],
  "eval.cancel.title": ["Cancel this evaluation?", "Diese Auswertung abbrechen?"],
  "eval.cancel.hint": ["What was judged before is measured.", "Was schon bewertet ist, wird gemessen."],
});
