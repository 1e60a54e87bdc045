package privacy

import (
	"strings"
	"sync"
)

// lookalike stands for what no recogniser finds: orders, articles, versions, coordinates.
const lookalike = "-"

// labels has the entities that a word names. Words are folded.
type labels map[string][]string

// allLabels returns the labels, which nobody may change. They are made once: that takes longer than
// to read a short text.
var allLabels = sync.OnceValue(newLabels)

func newLabels() labels {
	l := labels{}
	for entity, words := range map[string]string{
		Email:  "email mail mailto emailadresse courriel correo",
		Phone:  labelsOfPhones,
		IBAN:   "iban konto bankkonto kontoverbindung bankverbindung bankrekening compte cuenta conto rekening rekeningnummer bic swift rib",
		Card:   labelsOfCards,
		IP:     labelsOfNetworks,
		Crypto: "wallet bitcoin btc ethereum eth crypto cryptocurrency kryptowahrung portefeuille monedero cartera portafoglio",

		"UK_NHS": "nhs", "UK_NINO": "nino insurance ni", "DE_TAX_ID": "steuer steuerid steueridentifikation identifikation idnr steuerliche steuernummer tin tax",
		"FR_INSEE": "insee nir secu securite sociale", "ES_NIF": "nif dni identidad identificacion fiscal", "ES_NIE": "nie dni identidad extranjero extranjeria",
		"IT_FISCAL_CODE": "fiscale codice cf", "NL_BSN": "bsn burgerservice sofi", "PL_PESEL": "pesel", "SE_PERSONNUMMER": "personnummer personnr samordning",
		"FI_PERSONAL_IDENTITY_CODE": "henkilotunnus hetu", "DK_CPR_NUMBER": "cpr personnummer", "NO_FODSELSNUMMER": "fodsel fodselsnummer personnummer",
		"CH_AHV": "ahv avs oasi sozialversicherung", "US_SSN": "ssn social", "BR_CPF": "cpf contribuinte", "IN_AADHAAR": "aadhaar aadhar uidai uid",
		"AU_TFN": "tfn tax", "SG_NRIC_FIN": "nric fin", "KR_RRN": "rrn resident",
		lookalike: lookalikesOfTrade + lookalikesOfThings + lookalikesOfTexts,
	} {
		for word := range strings.FieldsSeq(words) {
			l[word] = append(l[word], entity)
		}
	}
	return l
}

const (
	labelsOfPhones = `phone telephone tel telefon telefono telefone telefoon telefonica telefonisch telefonico telephonique mobile mobil mobiltelefon cell cellphone
		handy fax telefax call calling anruf anrufen ruf ruft durchwahl portable movil celular cellulare mobiel gsm whatsapp signal hotline appeler appelez
		joindre joignable llamar llame llamenos chiamare chiamate chiami bel bellen bereikbaar erreichbar sms dial ring landline festnetz fixe`
	labelsOfCards    = `card cards creditcard visa mastercard amex maestro karte kreditkarte kreditkarten karten carte bancaire tarjeta carta kaart debit pan`
	labelsOfNetworks = `ip ipv4 ipv6 host hosts server servers serveur servidor address addresses adresse adressen direccion indirizzo adres gateway
		dns ping client hostname subnet netmask router firewall proxy localhost nameserver endpoint remote peer network netz netzwerk rechner red rete netwerk`

	lookalikesOfTrade = `order orders invoice article item items part parts sku ean gtin upc tracking parcel shipment delivery reference product batch lot
		transaction customer amount total quantity bestell bestellung bestellungen auftrag auftrags rechnung rechnungs artikel kunde kunden sendung
		sendungs paket lieferung vertrags betrag summe transaktion commande facture colis suivi livraison produit montant client
		pedido factura articulo envio seguimiento producto importe ordine fattura articolo spedizione prodotto importo
		bestelling bestel factuur zending levering klant klanten bedrag pakket cliente referencia riferimento referentie referenz `
	lookalikesOfThings = `serial serie serien model modell modelo modello device asset imei vin meter zahler compteur contador contatore
		latitude longitude lat lon lng coordinates coordonnees coordenadas coordinate coordinaten koordinaten gps breite lange
		isin wkn hash commit sha sha1 checksum timestamp port ticket case vorgang aktenzeichen dossier expediente pratica zaak inventar inventory
		apparaat gerat appareil aparato apparecchio sensor `
	lookalikesOfTexts = `version versions versie versione release build firmware update upgrade software isbn issn doi oid section sections chapter clause
		paragraph figure table page kapitel abschnitt absatz seite ziffer bild tabelle chapitre alinea tableau capitulo seccion apartado tabla pagina
		capitolo sezione paragrafo tabella hoofdstuk paragraaf sectie tabel`
)
