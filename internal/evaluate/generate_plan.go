package evaluate

import (
	"math/rand/v2"
	"slices"
)

// Planned is a question to write: its kind, and the places of its passages in a list.
type Planned struct {
	Kind     Kind  `json:"kind"`
	Passages []int `json:"passages"`
}

// Limits of a plan.
const (
	unanswerableEvery = 10   // one question in so many has no answer
	shortestAsked     = 6    // content words of a passage that is asked about
	leastRelated      = 0.12 // share of common words of two passages that are compared
	mostRelated       = 0.8  // above, the two say the same
	comparedAhead     = 40   // passages among which the other one of a comparison is sought
)

// Unanswerable returns how many of count questions have no answer.
func Unanswerable(count int) int { return (count + unanswerableEvery/2) / unanswerableEvery }

// PlanQuestions returns up to count questions to write of passages, in the order in which they are
// to be written: kinds and documents take turns, and one question in ten is unanswerable. A passage
// is used once for each kind. The same passages and seed give the same plan.
func PlanQuestions(passages []Passage, count int, seed uint64) []Planned {
	p := planner{passages: passages, words: make([]map[string]bool, len(passages))}
	for i, x := range passages {
		p.words[i] = newLexicon(x.whole()).statement(x.whole()).terms
	}
	order := p.order(rand.New(rand.NewPCG(seed, uint64(len(passages)))))
	byKind := map[Kind][]Planned{}
	for at, i := range order {
		byKind[KindFact] = append(byKind[KindFact], Planned{KindFact, []int{i}})
		byKind[KindUnanswerable] = append(byKind[KindUnanswerable], Planned{KindUnanswerable, []int{i}})
		if p.hasRows(i) {
			byKind[KindTable] = append(byKind[KindTable], Planned{KindTable, []int{i}})
		}
		if other, ok := p.related(i, order[at+1:min(len(order), at+1+comparedAhead)]); ok {
			byKind[KindComparison] = append(byKind[KindComparison], Planned{KindComparison, []int{i, other}})
		}
	}
	slices.Reverse(byKind[KindUnanswerable]) // others than those of the first facts
	return inTurns(byKind, count)
}

// inTurns takes the kinds in turns. Each tenth question is unanswerable.
func inTurns(byKind map[Kind][]Planned, count int) []Planned {
	var plan []Planned
	take := func(kind Kind) {
		if list := byKind[kind]; len(list) > 0 && len(plan) < count {
			plan, byKind[kind] = append(plan, list[0]), list[1:]
		}
	}
	for before := -1; before < len(plan) && len(plan) < count; {
		before = len(plan)
		for range (unanswerableEvery - 1) / 3 {
			take(KindFact)
			take(KindTable)
			take(KindComparison)
		}
		take(KindUnanswerable)
	}
	return plan
}

type planner struct {
	passages []Passage
	words    []map[string]bool
}

// order returns the places of the passages that have something to ask about, shuffled, a passage of
// each document after another.
func (p planner) order(random *rand.Rand) []int {
	var documents []string
	places := map[string][]int{}
	for i, x := range p.passages {
		if len(p.words[i]) < shortestAsked {
			continue
		}
		if places[x.DocumentID] == nil {
			documents = append(documents, x.DocumentID)
		}
		places[x.DocumentID] = append(places[x.DocumentID], i)
	}
	random.Shuffle(len(documents), func(i, j int) { documents[i], documents[j] = documents[j], documents[i] })
	for _, d := range documents {
		list := places[d]
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	var order []int
	for turn := 0; ; turn++ {
		before := len(order)
		for _, d := range documents {
			if turn < len(places[d]) {
				order = append(order, places[d][turn])
			}
		}
		if len(order) == before {
			return order
		}
	}
}

func (p planner) hasRows(i int) bool {
	return slices.ContainsFunc(linesOf(p.passages[i].whole()), func(x line) bool { return x.row })
}

// related returns the passage among others that has most words in common with one, without saying
// the same.
func (p planner) related(i int, others []int) (other int, ok bool) {
	best := leastRelated
	for _, j := range others {
		if share := overlap(p.words[i], p.words[j]); share >= best && share <= mostRelated {
			best, other, ok = share, j, true
		}
	}
	return other, ok
}

// ChooseGenerated returns the questions that are kept of a list, in its order: no near duplicates, and
// at most count, of which Unanswerable(count) have no answer. duplicates is how many are left out
// because another one asks nearly the same.
func ChooseGenerated(list []Generated, count int) (kept []Generated, duplicates int) {
	distinct := WithoutDuplicates(list)
	room := map[bool]int{false: Unanswerable(count)}
	room[true] = count - room[false]
	for _, g := range distinct {
		if answerable := g.Item.answerable(); room[answerable] > 0 {
			room[answerable]--
			kept = append(kept, g)
		}
	}
	return kept, len(list) - len(distinct)
}
