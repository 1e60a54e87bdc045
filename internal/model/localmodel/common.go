package localmodel

import "strings"

// commonWords are words that occur in texts on any subject, and so distinguish
// texts less than other words.
const commonWords = `
able according account actual add all allow almost alone along already although always among amount another any
appear apply approach approximate area around assume assumption available base basic basis become begin better big
brief bring call calculate calculation care carry case cause certain change choice choose chosen clear close come
common compare comparison complete concern condition consider consist contain continue correspond cover current
data date day deal depend derive determine develop development differ difference different difficult direct discuss
done due early easy effect enough entire especially establish evaluate event example exist expect extend fact factor
far fast feel few field first follow form found full function general give given good great group help high hold
important improve include increase indicate inform information instead interest investigate investigation involve
issue keep kind large last late lead least left less level limit line little long look lot low made main make manner
matter mean method middle move name nature near necessary need never new next note number observe obtain occur offer
often open order paper part particular pass people perform person place point possibility possible practical present
previous problem procedure produce property provide purpose put question quite range rate reach read real reason
receive reduce regard relate relative remain report represent require respect result right run second section see
seem set several short show shown side similar simple situation small solution special specific start state step
study subject suggest suitable system take taken term test theoretical theory thing third three time today together
total treat treatment true try turn two type understand use used useful usual value various vary view way well whole
wide work world year yield`

// commonStems returns the stems of the common words.
func commonStems() map[string]struct{} {
	stems := make(map[string]struct{}, 400)
	for word := range strings.FieldsSeq(commonWords) {
		stems[string(stem([]byte(word)))] = struct{}{}
	}
	return stems
}
