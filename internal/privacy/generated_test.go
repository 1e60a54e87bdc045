package privacy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// sample is a text with the values that stand in it.
type sample struct {
	text   string
	values []value
}

type value struct {
	entity string
	knowledge.Span
}

func (s *sample) add(text string) { s.text += text }

func (s *sample) addValue(entity, text string) {
	start := utf8.RuneCountInString(s.text)
	s.values = append(s.values, value{entity, knowledge.Span{Start: start, End: start + utf8.RuneCountInString(text)}})
	s.add(text)
}

// language holds the words of one language for the generated texts. In a sentence, {L}
// stands for the label and {V} for the value.
type language struct {
	code      string
	sentences []string
	labels    map[string]string
	national  string // how a label of a national number is written, %s is its name
	alike     []string
}

func languages() []language {
	return []language{
		{
			"en", []string{"{L}: {V}", "Please confirm the {L} {V} by Friday.", "Her {L} is {V}, as stated in the contract.", "Send it to us today. {L} {V}. Thank you."},
			map[string]string{privacy.Email: "email", privacy.Phone: "phone", privacy.IBAN: "IBAN", privacy.Card: "credit card", privacy.IP: "IP address", privacy.Crypto: "wallet"},
			"%s number", []string{"order number", "invoice", "article no.", "tracking number", "serial number", "version", "section"},
		},
		{
			"de", []string{"{L}: {V}", "Bitte bestätigen Sie die {L} {V} bis Freitag.", "Ihre {L} lautet {V}, wie im Vertrag steht.", "Heute noch senden. {L} {V}. Danke."},
			map[string]string{privacy.Email: "E-Mail", privacy.Phone: "Telefonnummer", privacy.IBAN: "IBAN", privacy.Card: "Kreditkartennummer", privacy.IP: "IP-Adresse", privacy.Crypto: "Wallet"},
			"%s-Nummer", []string{"Bestellnummer", "Rechnungsnummer", "Artikelnummer", "Sendungsnummer", "Seriennummer", "Version", "Abschnitt"},
		},
		{
			"fr", []string{"{L} : {V}", "Veuillez confirmer {L} {V} avant vendredi.", "Son numéro {L} est {V}, comme prévu au contrat.", "À envoyer ce jour. {L} {V}. Merci."},
			map[string]string{privacy.Email: "courriel", privacy.Phone: "téléphone", privacy.IBAN: "IBAN", privacy.Card: "carte bancaire", privacy.IP: "adresse IP", privacy.Crypto: "portefeuille"},
			"numéro %s", []string{"numéro de commande", "facture n°", "article", "numéro de suivi", "numéro de série", "version", "section"},
		},
		{
			"es", []string{"{L}: {V}", "Confirme {L} {V} antes del viernes.", "Su número {L} es {V}, según el contrato.", "Enviar hoy. {L} {V}. Gracias."},
			map[string]string{privacy.Email: "correo", privacy.Phone: "teléfono", privacy.IBAN: "IBAN", privacy.Card: "tarjeta", privacy.IP: "dirección IP", privacy.Crypto: "monedero"},
			"número %s", []string{"número de pedido", "factura", "artículo", "número de seguimiento", "número de serie", "versión", "sección"},
		},
		{
			"it", []string{"{L}: {V}", "Confermare {L} {V} entro venerdì.", "Il suo numero {L} è {V}, come da contratto.", "Inviare oggi. {L} {V}. Grazie."},
			map[string]string{privacy.Email: "email", privacy.Phone: "telefono", privacy.IBAN: "IBAN", privacy.Card: "carta di credito", privacy.IP: "indirizzo IP", privacy.Crypto: "portafoglio"},
			"numero %s", []string{"numero d'ordine", "fattura", "articolo", "numero di spedizione", "numero di serie", "versione", "sezione"},
		},
		{
			"nl", []string{"{L}: {V}", "Bevestig {L} {V} vóór vrijdag.", "Haar {L} is {V}, zoals in het contract staat.", "Vandaag versturen. {L} {V}. Bedankt."},
			map[string]string{privacy.Email: "e-mail", privacy.Phone: "telefoon", privacy.IBAN: "IBAN", privacy.Card: "creditcard", privacy.IP: "IP-adres", privacy.Crypto: "wallet"},
			"%s-nummer", []string{"bestelnummer", "factuurnummer", "artikelnummer", "zending", "serienummer", "versie", "sectie"},
		},
	}
}

// namesOfNumbers are the names by which people call the national numbers.
func namesOfNumbers() map[string]string {
	return map[string]string{
		"UK_NHS": "NHS", "UK_NINO": "National Insurance", "DE_TAX_ID": "Steuer-ID", "FR_INSEE": "INSEE", "ES_NIF": "NIF", "ES_NIE": "NIE", "IT_FISCAL_CODE": "codice fiscale",
		"NL_BSN": "BSN", "PL_PESEL": "PESEL", "SE_PERSONNUMMER": "personnummer", "FI_PERSONAL_IDENTITY_CODE": "henkilötunnus", "DK_CPR_NUMBER": "CPR",
		"NO_FODSELSNUMMER": "fødselsnummer", "CH_AHV": "AHV", "US_SSN": "SSN", "BR_CPF": "CPF", "IN_AADHAAR": "Aadhaar", "AU_TFN": "TFN", "SG_NRIC_FIN": "NRIC", "KR_RRN": "RRN",
	}
}

// needLabel are the entities of which people always write the name: their numbers look as
// others do.
const needLabel = "NL_BSN AU_TFN PL_PESEL IN_AADHAAR DE_TAX_ID US_SSN UK_NHS DK_CPR_NUMBER SE_PERSONNUMMER"

// generate makes n texts, two in three with values, two in three with look-alikes.
func generate(n int) []sample {
	m := maker{rand.New(rand.NewPCG(29, 2000))}
	entities := knowledge.PIIEntities()
	var samples []sample
	for i := range n {
		l := languages()[i%6]
		var s sample
		for part := range 3 {
			if part > 0 {
				s.add(m.one(". ", "\n", "\n\n"))
			}
			if m.IntN(2) == 0 {
				m.addValue(&s, l, entities[m.IntN(len(entities))])
			} else {
				s.add(m.lookalike(l))
			}
		}
		samples = append(samples, s)
	}
	return samples
}

func (m maker) addValue(s *sample, l language, entity string) {
	label, text := m.valueOf(l, entity)
	sentence := l.sentences[m.IntN(len(l.sentences))]
	switch {
	case m.IntN(8) == 0:
		if s.text != "" {
			s.add("\n")
		}
		s.add("| " + m.one("Name", "Nom", "No.") + " | " + label + " |\n| --- | --- |\n| " + m.one("Ann", "Bob", "7") + " | ")
		s.addValue(entity, text)
		s.add(" |\n")
		return
	case m.IntN(3) == 0 && entity != privacy.Phone && !strings.Contains(needLabel, entity):
		sentence = strings.Replace(sentence, "{L}", "", 1)
	}
	before, behind, _ := strings.Cut(strings.Replace(sentence, "{L}", label, 1), "{V}")
	s.add(before)
	s.addValue(entity, text)
	s.add(behind)
}

// valueOf returns a value of an entity and its label.
func (m maker) valueOf(l language, entity string) (label, text string) {
	switch entity {
	case privacy.Email:
		text = m.mail()
	case privacy.Phone:
		text = m.phone(l.code)
	case privacy.IBAN:
		text = m.iban()
	case privacy.Card:
		text = m.card()
	case privacy.IP:
		text = m.ip()
	case privacy.Crypto:
		text = m.wallet()
	default:
		return fmt.Sprintf(l.national, namesOfNumbers()[entity]), m.national(entity)
	}
	return l.labels[entity], text
}

// lookalike makes a text that has the form of personal data and is none.
func (m maker) lookalike(l language) string {
	label := l.alike[m.IntN(5)]
	switch m.IntN(16) {
	case 0, 1, 2:
		return label + " " + m.digits(8+m.IntN(6))
	case 3:
		return label + ": " + grouped(m.digits(12), m.one(" ", "-"), 4, 4, 4)
	case 4:
		return label + " " + grouped(m.digits(10), m.one(" ", "-"), 3, 3, 4)
	case 5:
		return l.alike[5] + fmt.Sprintf(" %d.%d.%d.%d", m.IntN(30), m.IntN(256), m.IntN(256), m.IntN(99))
	case 6:
		return fmt.Sprintf("%d.%d.%d.%d %s", 1+m.IntN(9), 1+m.IntN(20), 1+m.IntN(20), 1+m.IntN(20), l.alike[6])
	case 7:
		return fmt.Sprintf("GPS %d.%s, %d.%s", 40+m.IntN(20), m.digits(6), m.IntN(20), m.digits(6))
	case 8:
		return "ISBN " + m.one("978-3-"+m.digits(2)+"-"+m.digits(6)+"-"+m.digits(1), m.digits(10), "978"+m.digits(10))
	case 9:
		return fmt.Sprintf("20%s-%02d-%02d %02d:%02d:%02d", m.digits(2), 1+m.IntN(12), 1+m.IntN(28), m.IntN(24), m.IntN(60), m.IntN(60))
	case 10:
		return fmt.Sprintf("%d.%02d.20%s, %s.%s,%s €", 1+m.IntN(28), 1+m.IntN(12), m.digits(2), m.digits(3), m.digits(3), m.digits(2))
	case 11:
		return m.one("@anna", "image@2x.png", "git@host.example.com:org/repo.git", "lodash@4.17.21", "a @ b", "#12345")
	case 12:
		return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", m.Uint32(), m.IntN(65536), m.IntN(4096), m.IntN(4096), m.Uint64()>>16)
	case 13:
		return "commit " + m.from("0123456789abcdef", 40)
	case 14:
		return "IMEI " + luhned("35"+m.digits(12))
	}
	return label + " DE" + m.digits(20) + m.from("ABC", 1)
}
