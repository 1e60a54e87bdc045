package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// Asked is a question with its vector.
type Asked struct {
	ID     string // of its run
	Text   string
	Vector []float32 // need not have the length 1; without one it is in a group of its own text
}

// Group is questions that mean the same.
type Group struct {
	Question string   `json:"question"` // the one nearest to the middle of the group
	IDs      []string `json:"runs"`     // in the order in which they were asked
}

// GroupThreshold is the cosine from which on two questions mean the same, for the offline
// embeddings.
const GroupThreshold = 0.8

// cluster is a group while it is made.
type cluster struct {
	members []int
	sum     []float64 // of the members' vectors of length 1
	text    string    // of the members, if they have no vector
}

// GroupQuestions groups questions by meaning, the largest group first. The same questions in the
// same order give the same groups. threshold is a cosine; 0 stands for GroupThreshold.
func GroupQuestions(questions []Asked, threshold float64) []Group {
	if threshold == 0 {
		threshold = GroupThreshold
	}
	vectors := make([][]float64, len(questions))
	var clusters []*cluster
	for i, q := range questions {
		vectors[i] = unitVector(q.Vector)
		clusters = join(clusters, i, q.Text, vectors[i], threshold)
	}
	clusters = regroup(clusters, questions, vectors, threshold)
	slices.SortStableFunc(clusters, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.members[0], b.members[0]))
	})
	groups := []Group{}
	for _, c := range clusters {
		g := Group{Question: questions[c.middle(vectors)].Text}
		for _, i := range c.members {
			g.IDs = append(g.IDs, questions[i].ID)
		}
		groups = append(groups, g)
	}
	return groups
}

// join adds a question to the nearest cluster, or to a new one if none is near.
func join(clusters []*cluster, i int, text string, vector []float64, threshold float64) []*cluster {
	var nearest *cluster
	most := threshold
	for _, c := range clusters {
		if vector == nil && c.sum == nil && c.text == text {
			nearest = c
			break
		}
		if near := cosine(c.sum, vector); near >= most && (nearest == nil || near > most) {
			nearest, most = c, near
		}
	}
	if nearest == nil {
		nearest = &cluster{text: text}
		if vector != nil {
			nearest.sum = make([]float64, len(vector))
		}
		clusters = append(clusters, nearest)
	}
	nearest.members = append(nearest.members, i)
	for d, x := range vector {
		nearest.sum[d] += x
	}
	return clusters
}

// regroup puts each question into the nearest of the clusters as they are in the end, because the
// first questions were grouped before their clusters had a middle. Clusters that lose all
// questions vanish.
func regroup(clusters []*cluster, questions []Asked, vectors [][]float64, threshold float64) []*cluster {
	ends := make([]*cluster, len(clusters))
	for i := range ends {
		ends[i] = &cluster{text: clusters[i].text, sum: clusters[i].sum}
	}
	for _, c := range clusters {
		for _, i := range c.members {
			best, most := -1, threshold
			for k, end := range clusters {
				same := vectors[i] == nil && end.sum == nil && end.text == questions[i].Text
				if near := cosine(end.sum, vectors[i]); same || near >= most && (best < 0 || near > most) {
					best, most = k, near
				}
			}
			if best < 0 { // far from the middle of its own
				best = slices.Index(clusters, c)
			}
			ends[best].members = append(ends[best].members, i)
		}
	}
	ends = slices.DeleteFunc(ends, func(c *cluster) bool { return len(c.members) == 0 })
	for _, c := range ends {
		slices.Sort(c.members)
	}
	return ends
}

// middle returns the member that is nearest to all others, the first of several.
func (c *cluster) middle(vectors [][]float64) int {
	best, most := c.members[0], -1.0
	for _, i := range c.members {
		if near := cosine(c.sum, vectors[i]); near > most+leastChange {
			best, most = i, near
		}
	}
	return best
}

// unitVector returns a vector of length 1, nil for none and for one of length 0.
func unitVector(vector []float32) []float64 {
	length := 0.0
	for _, x := range vector {
		length += float64(x) * float64(x)
	}
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float64, len(vector))
	for i, x := range vector {
		out[i] = float64(x) / math.Sqrt(length)
	}
	return out
}

// cosine returns the cosine of a sum and a vector of length 1, and -1 if they cannot be compared.
func cosine(sum, vector []float64) float64 {
	if len(sum) != len(vector) || len(sum) == 0 {
		return -1
	}
	dot, length := 0.0, 0.0
	for i, x := range vector {
		dot += x * sum[i]
		length += sum[i] * sum[i]
	}
	if length == 0 {
		return -1
	}
	return dot / math.Sqrt(length)
}
