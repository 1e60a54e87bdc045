package words

import "strings"

// compoundHeads are German nouns with which compounds often end, in lower case without
// accents. None is the end of an English word that is not a compound with it, so texts in
// English are not split.
var compoundHeads = func() map[string]bool {
	heads := map[string]bool{}
	for _, word := range strings.Fields(`
		abgabe ablauf abschluss abteilung adresse aktie analyse anbieter anforderung angebot anlage anleitung annahme
		anspruch antrag antwort anwendung anzeige arbeit arbeiter arbeitgeber arbeitnehmer aufgabe aufnahme aufsicht
		auftrag ausbildung ausgabe ausschuss ausstellung ausweis bahn bahnhof bauwerk baum bedarf bedingung behandlung
		behorde beispiel beitrag benutzer bericht beruf beschluss besprechung bestellung betrieb bewegung bewertung
		beziehung bezirk bildung breite brucke buch bucher datei daten datenbank dauer dienst druck einfluss eingabe
		einkommen einnahme einrichtung energie entgelt entscheidung entwicklung ereignis ergebnis ersatzteil fabrik
		fahigkeit fahrer fahrrad fahrt fahrzeug familie farbe fehler fertigung feuer flache flughafen fluss forderung
		forscher forschung frage frauen freiheit frieden frist garten gebaude gebiet gebuhr geburt gefahr gehalt geld
		gemeinde genehmigung gerat gericht geschaft geschwindigkeit gesellschaft gesetz gesundheit gewicht grenze
		grund gruppe haftung hafen halle haltung handbuch handel handlung haus heizung hersteller herstellung hilfe hohe
		holz jahr kabel kanzler karte karten kasse keller kennwort kinder kirche klasse konto kontrolle kosten kraft
		kraftwerk krankenhaus krankheit kredit kreis krieg kuhlung kunde kunden kundigung kunst kunststoff lager leben
		lebensmittel lehrer leistung leiter leitung lieferant lieferung liste lohn losung luftung mannschaft markt
		maschine medikament medizin meister meisterschaft meldung menge menschen messgerat messung metall miete mieter
		ministerium mitarbeiter mittel moglichkeit monat musik nachricht netz netzwerk nummer ordnung papier partei
		passwort pferd pflanze pflege pflicht planung politik polizei preis produkt produktion programm projekt prozess
		prufung pumpe quelle raum rechner rechnung recht regelung regierung reise rente reparatur rettung richtlinie
		richtung sammlung schaden schalter schlussel schrift schule schuler schulung schutz sicherheit sicherung sitzung
		spannung speicher spiel spieler sprache staat stadt stahl stelle steuer steuerung stoff strasse strategie stuck
		stufe stunde tabelle tafel technik technologie teil teile temperatur termin thema turm ubertragung unfall
		universitat unternehmen unterricht unterschied unterstutzung untersuchung urlaub ursache urteil ventil
		veranderung veranstaltung verantwortung verband verbindung verein vereinbarung verfahren vergleich verhaltnis
		verkehr vermogen verordnung versammlung versicherung versorgung vertrag verwaltung vogel volk voraussetzung
		vorgang vorschrift vorstand waffe waffen wagen wahl wahrung wald warme wartung wasser weise werk werkstatt werte
		wettbewerb wirkung wirtschaft wissen wissenschaft woche wohnung zahl zahlung zeit zeitung ziel zimmer zinsen
		zugang zugriff zustand`) {
		heads[word] = true
	}
	return heads
}()
