package words

import "strings"

// irregular has the forms of English verbs and nouns that have several stems. A form that is
// mostly another word is left out, such as found of to found, as are verbs that say little of
// a subject: give, make, take.
var irregular = func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(`begin began begun
		break broke broken
		bring brought
		build built
		buy bought
		catch caught
		child children
		choose chose chosen
		criterion criteria
		deal dealt
		draw drew drawn
		drive drove driven
		fall fell fallen
		foot feet
		forget forgot forgotten
		freeze froze frozen
		grow grew grown
		hold held
		index indices
		keep kept
		lend lent
		lose lost
		man men
		matrix matrices
		mouse mice
		pay paid
		person people
		repay repaid
		sell sold
		send sent
		shrink shrank shrunk
		speak spoke spoken
		spend spent
		steal stole stolen
		swim swam swum
		teach taught
		tooth teeth
		vertex vertices
		withdraw withdrew withdrawn
		woman women
		write wrote written`) {
		forms := strings.Fields(line)
		for i, form := range forms {
			for j, other := range forms {
				if j != i {
					all[form] = append(all[form], other)
				}
			}
		}
	}
	return all
}()
