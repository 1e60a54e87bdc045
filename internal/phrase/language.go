package phrase

import (
	"slices"
	"strings"
	"unicode"
)

// functionWords are frequent words by language (ISO 639-3) that hardly any question is without.
var functionWords = map[string]string{
	"eng": `the a an of to in is are was were do does did what which who whom whose when where why how can could should would
		will must may have has had and or for from with on at by about this that these those it its there any not my our your we you i`,
	"deu": `der die das den dem des ein eine einen einem einer eines ist sind war waren wie was wer wen wem wo wann warum wieso
		welche welcher welches welchen welchem wieviel viele viel hat haben hatte kann können darf dürfen muss müssen soll sollen wird werden
		und oder für von vom zu zum zur mit bei beim im in auf aus nach über unter nicht kein keine ich wir sie man es gibt mein unser`,
	"fra": `le la les l un une des du de d est sont était quel quelle quels quelles qui que quoi où quand comment pourquoi combien
		et ou pour par avec dans sur sous à au aux en ce cette ces il elle on nous vous je mon notre votre ne pas peut dois doit faut a ont`,
	"spa": `el la los las un una unos unas de del es son era está están qué cuál cuáles quién quiénes dónde cuándo cómo cuánto cuánta
		cuántos cuántas por para con en sobre al y o que se su sus mi nuestro no hay puede puedo debe tiene tienen lo le yo nosotros
		cuando donde como cuantos cuantas cual quien`,
	"ita": `il lo la i gli le un una uno di del dello della dei degli delle è sono era che chi cosa quale quali quando dove come perché
		quanto quanta quanti quante e o per con in nel nella nei su sul sulla al alla da dal dalla non si può posso deve ha hanno ho mio nostro c`,
	"por": `o a os as um uma uns umas de do da dos das é são era que qual quais quem quando onde como porque quanto quanta quantos
		quantas e ou para por pelo pela com em no na nos nas ao à sobre não se há pode posso deve tem têm eu nós meu nosso está estão`,
	"nld": `de het een is zijn was waren wat wie waar wanneer waarom hoe welke welk hoeveel kan kunnen mag mogen moet moeten heeft
		hebben en of voor van met op in uit naar over bij te niet geen ik wij we men er dat deze dit mijn onze wordt worden`,
}

// languagesOf are the languages in whose lists a word is.
var languagesOf = func() map[string][]string {
	of := map[string][]string{}
	for language, words := range functionWords {
		for word := range strings.FieldsSeq(words) {
			of[word] = append(of[word], language)
		}
	}
	return of
}()

// english is the language of a question that is in none of the languages, or in no certain one.
const english = "eng"

// FunctionWord reports whether a word in lower case is a frequent one of a language that
// hardly says what a text is about.
func FunctionWord(word, language string) bool { return slices.Contains(languagesOf[word], language) }

// languageOf returns the language of a question, English for one in no certain language.
func languageOf(question string) string {
	language, first, second := leading(question)
	if first == second { // undecided
		return english
	}
	return language
}

// certain is how much more a text has of the words of one language than of any other, if it
// is in that language for certain.
const certain = 1.5

// Language returns the language of a text, of the ones in functionWords, as a code of three
// letters, "" if it is uncertain.
func Language(text string) string {
	language, first, second := leading(text)
	if first < second+certain {
		return ""
	}
	return language
}

// leading returns the language that has most of the words of a text, how many, and how many
// the second language has. A word that several have counts less for each of them.
func leading(text string) (best string, first, second float64) {
	share := map[string]float64{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		of := languagesOf[word]
		for _, language := range of {
			share[language] += 1 / float64(len(of))
		}
	}
	for language, s := range share {
		switch {
		case s > first:
			best, first, second = language, s, first
		case s > second:
			second = s
		}
	}
	return best, first, second
}
