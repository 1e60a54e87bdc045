package phrase

// Phrases are the sentences in one language. Those with %s take the texts that their comments
// name, in that order.
type Phrases struct {
	NoAnswer        string // of the documents
	LookedFor       string // of the offline model, behind NoAnswer: what
	OtherLanguage   string // before sentences in another language than the question's
	Uncertain       string // behind sentences that are only near to the question
	NoPassages      string // came with a question to the offline model
	SearchedByWords string // a notice
	Reflection      string // of the offline model: question, number of passages

	// Of the report of a research.
	LeftOut              string // a heading
	EndedEarly           string // why
	OutOfCalls           string
	OutOfTokens          string
	OutOfTime            string
	NotResearched        string // question
	Failed               string // question, why
	NothingFound         string // question
	NotSearchedOnTheWeb  string // question, why
	NotSearchedDocuments string // question, why
	StillOpen            string // question, what
	NotRead              string // name of an attached file, why
	NothingSucceeded     string
	NoAnswerInSources    string
	NothingSearched      string // because the budget was used up
	OnlyNotesBudget      string // heading of a section
	OnlyNotes            string // heading of a section, why
}

var all = map[string]Phrases{
	english: {
		NoAnswer:        "The documents do not contain an answer to this question.",
		LookedFor:       "I looked for: %s. Ask in other words, or add documents that answer it.",
		OtherLanguage:   "The documents answer in another language:",
		Uncertain:       "It is not certain that this answers the question.",
		NoPassages:      "This is Cairn's offline model. It answers by quoting passages of documents, and none came with this question.",
		SearchedByWords: "The documents were searched by their words alone, because the model that understands their meaning is not available. Ask again later for a fuller answer.",
		Reflection:      "The question is: %s I look for sentences that answer it in the passages, of which there are %s.",

		LeftOut:    "What this report leaves out",
		EndedEarly: "The research ended early: %s",
		OutOfCalls: "its budget of model calls was used up.", OutOfTokens: "its budget of tokens was used up.", OutOfTime: "its time was over.",
		NotResearched: "Not researched: %s", Failed: "Failed: %s (%s)", NothingFound: "Nothing was found: %s",
		NotSearchedOnTheWeb: "Not searched on the web: %s (%s)", NotSearchedDocuments: "Not searched in the documents: %s (%s)",
		StillOpen: "Still open: %s (%s)", NotRead: "Not read: the attached file “%s” (%s)",
		NothingSucceeded:  "No part of this research succeeded.",
		NoAnswerInSources: "The sources that could be searched do not contain an answer to this question.",
		NothingSearched:   "The budget was used up before anything was searched.",
		OnlyNotesBudget:   "Only notes, because the budget was used up: the section “%s”", OnlyNotes: "Only notes: the section “%s” (%s)",
	},
	"deu": {
		NoAnswer:        "Die Dokumente enthalten keine Antwort auf diese Frage.",
		LookedFor:       "Gesucht wurde nach: %s. Fragen Sie mit anderen Worten, oder fügen Sie Dokumente hinzu, die sie beantworten.",
		OtherLanguage:   "Die Dokumente antworten in einer anderen Sprache:",
		Uncertain:       "Es ist nicht sicher, dass dies die Frage beantwortet.",
		NoPassages:      "Dies ist das Offline-Modell von Cairn. Es antwortet mit Zitaten aus Dokumenten, und mit dieser Frage kamen keine.",
		SearchedByWords: "Die Dokumente wurden nur nach Wörtern durchsucht, weil das Modell, das ihre Bedeutung versteht, nicht erreichbar ist. Eine spätere Frage wird vollständiger beantwortet.",
		Reflection:      "Die Frage lautet: %s Ich suche nach Sätzen, die sie beantworten; die Zahl der Textstellen ist %s.",

		LeftOut:    "Was in diesem Bericht fehlt",
		EndedEarly: "Die Recherche endete vorzeitig: %s",
		OutOfCalls: "Die erlaubten Modellaufrufe waren verbraucht.", OutOfTokens: "Die erlaubten Tokens waren verbraucht.", OutOfTime: "Die Zeit war abgelaufen.",
		NotResearched: "Nicht recherchiert: %s", Failed: "Fehlgeschlagen: %s (%s)", NothingFound: "Nichts gefunden: %s",
		NotSearchedOnTheWeb: "Nicht im Web gesucht: %s (%s)", NotSearchedDocuments: "Nicht in den Dokumenten gesucht: %s (%s)",
		StillOpen: "Noch offen: %s (%s)", NotRead: "Nicht gelesen: die angehängte Datei „%s“ (%s)",
		NothingSucceeded:  "Kein Teil dieser Recherche ist gelungen.",
		NoAnswerInSources: "Die Quellen, die durchsucht werden konnten, enthalten keine Antwort auf diese Frage.",
		NothingSearched:   "Das Budget war verbraucht, bevor etwas durchsucht wurde.",
		OnlyNotesBudget:   "Nur Notizen, weil das Budget verbraucht war: der Abschnitt „%s“", OnlyNotes: "Nur Notizen: der Abschnitt „%s“ (%s)",
	},
	"fra": {
		NoAnswer:        "Les documents ne contiennent pas de réponse à cette question.",
		LookedFor:       "Recherche effectuée : %s. Posez la question autrement, ou ajoutez des documents qui y répondent.",
		OtherLanguage:   "Les documents répondent dans une autre langue :",
		Uncertain:       "Il n'est pas certain que cela réponde à la question.",
		NoPassages:      "Ceci est le modèle hors ligne de Cairn. Il répond en citant des passages de documents, et aucun n'accompagnait cette question.",
		SearchedByWords: "La recherche dans les documents s'est faite seulement par mots, car le modèle qui comprend leur sens n'est pas disponible. Posez de nouveau la question plus tard pour une réponse plus complète.",
		Reflection:      "La question est : %s Je cherche des phrases qui y répondent ; le nombre de passages est de %s.",

		LeftOut:    "Ce qui manque à ce rapport",
		EndedEarly: "La recherche s'est terminée plus tôt : %s",
		OutOfCalls: "le budget d'appels du modèle était épuisé.", OutOfTokens: "le budget de tokens était épuisé.", OutOfTime: "le temps était écoulé.",
		NotResearched: "Non recherché : %s", Failed: "Échec : %s (%s)", NothingFound: "Rien trouvé : %s",
		NotSearchedOnTheWeb: "Non recherché sur le web : %s (%s)", NotSearchedDocuments: "Non recherché dans les documents : %s (%s)",
		StillOpen: "Encore ouvert : %s (%s)", NotRead: "Non lu : le fichier joint « %s » (%s)",
		NothingSucceeded:  "Aucune partie de cette recherche n'a abouti.",
		NoAnswerInSources: "Les sources qui ont pu être consultées ne contiennent pas de réponse à cette question.",
		NothingSearched:   "Le budget était épuisé avant toute recherche.",
		OnlyNotesBudget:   "Seulement des notes, car le budget était épuisé : la section « %s »", OnlyNotes: "Seulement des notes : la section « %s » (%s)",
	},
	"spa": {
		NoAnswer:        "Los documentos no contienen una respuesta a esta pregunta.",
		LookedFor:       "Se buscó: %s. Pregunte con otras palabras o añada documentos que la respondan.",
		OtherLanguage:   "Los documentos responden en otro idioma:",
		Uncertain:       "No es seguro que esto responda a la pregunta.",
		NoPassages:      "Este es el modelo sin conexión de Cairn. Responde citando pasajes de documentos, y ninguno acompañaba a esta pregunta.",
		SearchedByWords: "Los documentos se buscaron solo por palabras, porque el modelo que entiende su significado no está disponible. Vuelva a preguntar más tarde para obtener una respuesta más completa.",
		Reflection:      "La pregunta es: %s Busco frases que la respondan; el número de pasajes es %s.",

		LeftOut:    "Lo que falta en este informe",
		EndedEarly: "La investigación terminó antes de tiempo: %s",
		OutOfCalls: "se agotó el presupuesto de llamadas al modelo.", OutOfTokens: "se agotó el presupuesto de tokens.", OutOfTime: "se acabó el tiempo.",
		NotResearched: "No investigado: %s", Failed: "Falló: %s (%s)", NothingFound: "No se encontró nada: %s",
		NotSearchedOnTheWeb: "No se buscó en la web: %s (%s)", NotSearchedDocuments: "No se buscó en los documentos: %s (%s)",
		StillOpen: "Aún abierto: %s (%s)", NotRead: "No leído: el archivo adjunto «%s» (%s)",
		NothingSucceeded:  "Ninguna parte de esta investigación tuvo éxito.",
		NoAnswerInSources: "Las fuentes que se pudieron consultar no contienen una respuesta a esta pregunta.",
		NothingSearched:   "El presupuesto se agotó antes de buscar.",
		OnlyNotesBudget:   "Solo notas, porque se agotó el presupuesto: la sección «%s»", OnlyNotes: "Solo notas: la sección «%s» (%s)",
	},
	"ita": {
		NoAnswer:        "I documenti non contengono una risposta a questa domanda.",
		LookedFor:       "Ho cercato: %s. Riformuli la domanda o aggiunga documenti che vi rispondano.",
		OtherLanguage:   "I documenti rispondono in un'altra lingua:",
		Uncertain:       "Non è certo che questo risponda alla domanda.",
		NoPassages:      "Questo è il modello offline di Cairn. Risponde citando passaggi di documenti, e nessuno accompagnava questa domanda.",
		SearchedByWords: "La ricerca nei documenti è avvenuta solo per parole, perché il modello che ne comprende il significato non è disponibile. Ripeta la domanda più tardi per una risposta più completa.",
		Reflection:      "La domanda è: %s Cerco frasi che vi rispondano; il numero di passaggi è %s.",

		LeftOut:    "Che cosa manca in questo rapporto",
		EndedEarly: "La ricerca è terminata in anticipo: %s",
		OutOfCalls: "il budget di chiamate al modello era esaurito.", OutOfTokens: "il budget di token era esaurito.", OutOfTime: "il tempo era scaduto.",
		NotResearched: "Non ricercato: %s", Failed: "Non riuscito: %s (%s)", NothingFound: "Nessun risultato: %s",
		NotSearchedOnTheWeb: "Non cercato sul web: %s (%s)", NotSearchedDocuments: "Non cercato nei documenti: %s (%s)",
		StillOpen: "Ancora aperto: %s (%s)", NotRead: "Non letto: il file allegato «%s» (%s)",
		NothingSucceeded:  "Nessuna parte di questa ricerca è riuscita.",
		NoAnswerInSources: "Le fonti che è stato possibile consultare non contengono una risposta a questa domanda.",
		NothingSearched:   "Il budget si è esaurito prima di qualsiasi ricerca.",
		OnlyNotesBudget:   "Solo appunti, perché il budget era esaurito: la sezione «%s»", OnlyNotes: "Solo appunti: la sezione «%s» (%s)",
	},
	"por": {
		NoAnswer:        "Os documentos não contêm uma resposta a esta pergunta.",
		LookedFor:       "Procurei: %s. Pergunte por outras palavras ou adicione documentos que lhe respondam.",
		OtherLanguage:   "Os documentos respondem noutra língua:",
		Uncertain:       "Não é certo que isto responda à pergunta.",
		NoPassages:      "Este é o modelo offline do Cairn. Responde citando passagens de documentos, e nenhuma acompanhava esta pergunta.",
		SearchedByWords: "Os documentos foram pesquisados apenas por palavras, porque o modelo que compreende o seu significado não está disponível. Pergunte novamente mais tarde para uma resposta mais completa.",
		Reflection:      "A pergunta é: %s Procuro frases que lhe respondam; o número de passagens é %s.",

		LeftOut:    "O que falta neste relatório",
		EndedEarly: "A pesquisa terminou mais cedo: %s",
		OutOfCalls: "o orçamento de chamadas ao modelo esgotou-se.", OutOfTokens: "o orçamento de tokens esgotou-se.", OutOfTime: "o tempo acabou.",
		NotResearched: "Não pesquisado: %s", Failed: "Falhou: %s (%s)", NothingFound: "Nada foi encontrado: %s",
		NotSearchedOnTheWeb: "Não pesquisado na web: %s (%s)", NotSearchedDocuments: "Não pesquisado nos documentos: %s (%s)",
		StillOpen: "Ainda em aberto: %s (%s)", NotRead: "Não lido: o ficheiro anexado “%s” (%s)",
		NothingSucceeded:  "Nenhuma parte desta pesquisa teve êxito.",
		NoAnswerInSources: "As fontes que puderam ser consultadas não contêm uma resposta a esta pergunta.",
		NothingSearched:   "O orçamento esgotou-se antes de qualquer pesquisa.",
		OnlyNotesBudget:   "Apenas notas, porque o orçamento se esgotou: a secção “%s”", OnlyNotes: "Apenas notas: a secção “%s” (%s)",
	},
	"nld": {
		NoAnswer:        "De documenten bevatten geen antwoord op deze vraag.",
		LookedFor:       "Gezocht naar: %s. Vraag het met andere woorden, of voeg documenten toe die het antwoord bevatten.",
		OtherLanguage:   "De documenten antwoorden in een andere taal:",
		Uncertain:       "Het is niet zeker dat dit de vraag beantwoordt.",
		NoPassages:      "Dit is het offline model van Cairn. Het antwoordt met citaten uit documenten, en bij deze vraag waren er geen.",
		SearchedByWords: "De documenten zijn alleen op woorden doorzocht, omdat het model dat hun betekenis begrijpt niet beschikbaar is. Stel de vraag later opnieuw voor een vollediger antwoord.",
		Reflection:      "De vraag is: %s Ik zoek zinnen die haar beantwoorden; het aantal passages is %s.",

		LeftOut:    "Wat in dit rapport ontbreekt",
		EndedEarly: "Het onderzoek eindigde voortijdig: %s",
		OutOfCalls: "het budget voor modelaanroepen was op.", OutOfTokens: "het budget voor tokens was op.", OutOfTime: "de tijd was om.",
		NotResearched: "Niet onderzocht: %s", Failed: "Mislukt: %s (%s)", NothingFound: "Niets gevonden: %s",
		NotSearchedOnTheWeb: "Niet op het web gezocht: %s (%s)", NotSearchedDocuments: "Niet in de documenten gezocht: %s (%s)",
		StillOpen: "Nog open: %s (%s)", NotRead: "Niet gelezen: het bijgevoegde bestand “%s” (%s)",
		NothingSucceeded:  "Geen enkel deel van dit onderzoek is gelukt.",
		NoAnswerInSources: "De bronnen die doorzocht konden worden, bevatten geen antwoord op deze vraag.",
		NothingSearched:   "Het budget was op voordat er iets was doorzocht.",
		OnlyNotesBudget:   "Alleen notities, omdat het budget op was: het hoofdstuk “%s”", OnlyNotes: "Alleen notities: het hoofdstuk “%s” (%s)",
	},
}

// For returns the phrases in the language of a question, in English for a language that
// Cairn does not have.
func For(question string) Phrases { return all[languageOf(question)] }
