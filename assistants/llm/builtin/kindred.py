"""Words that stand for each other in everyday office texts: synonyms, irregular forms, and English beside German."""

_GROUPS = """
refund refunds reimbursement reimburse repay refundable | erstattung erstatten rückerstattung erstattet
vacation holiday leave | urlaub ferien jahresurlaub
sick ill illness sickness | krank krankheit krankmeldung krankschreibung
salary wage wages pay payroll | gehalt lohn entgelt vergütung
notice resignation quit terminate termination | kündigung kündigen kündigungsfrist gekündigt
deadline due limit period within | frist stichtag abgabetermin zeitraum innerhalb binnen
contract agreement | vertrag vereinbarung
employee staff worker colleague | mitarbeiter mitarbeiterin beschäftigte angestellte
manager supervisor boss | vorgesetzte führungskraft chef chefin
customer client | kunde kundin kunden auftraggeber
invoice bill billing | rechnung rechnungen
price cost fee expensive | preis kosten gebühr entgelt kostet teuer
expense expenses | spesen auslagen reisekosten
travel trip journey | reise dienstreise reisen
flight fly plane airline | flug fliegen flüge
train railway rail | bahn zug
hotel accommodation lodging overnight | unterkunft übernachtung hotels
car vehicle driving mileage | auto fahrzeug pkw wagen
meal food breakfast lunch dinner | verpflegung essen mahlzeit
order purchase buy bought procurement | bestellung kauf kaufen bestellen beschaffung
return returns | rückgabe retoure rücksendung zurückgeben zurückschicken zurücksenden
delivery shipping shipment deliver dispatch | lieferung versand lieferzeit liefern liefert geliefert
warranty guarantee | garantie gewährleistung
complaint complain complained | beschwerde beschweren reklamation reklamieren reklamiert
cancel cancellation | stornieren stornierung storno absage
approve approval approved sign-off authorise authorize permission | genehmigung genehmigen genehmigt freigabe freigeben
password passphrase login credentials | passwort kennwort anmeldung zugangsdaten
computer laptop notebook | rechner computer
phone telephone mobile | telefon handy
lose lost loss missing | verlieren verloren verlust
steal stolen theft | gestohlen diebstahl
break broke broken damage damaged defect defective faulty | kaputt schaden beschädigt defekt
repair repairs mend fix | reparatur reparieren instandsetzung
tear tore torn rip ripped | reißen riss gerissen
security safety secure | sicherheit sicher
privacy | datenschutz
data | daten
backup backups restore | sicherung datensicherung
meeting appointment | termin besprechung sitzung
start begin began beginning | beginn anfang anfangen beginnen
end finish expire expiry | ende endet ablauf auslaufen
hour hours | stunde stunden
day days | tag tage
week weeks | woche wochen
month months monthly | monat monate monatlich
year years annual yearly | jahr jahre jährlich
time working-time | zeit uhrzeit arbeitszeit
overtime | überstunden mehrarbeit
remote home-office telework | homeoffice heimarbeit
training course seminar education | schulung weiterbildung fortbildung kurs
hire hiring recruit onboarding | einstellung einstellen einarbeitung
address | adresse anschrift
tax taxes vat | steuer mehrwertsteuer umsatzsteuer
insurance insured | versicherung versichert
bank account iban | konto bankverbindung
payment paid pay | zahlung bezahlen bezahlt zahlen zahlt überweisung
discount rebate | rabatt skonto nachlass
budget | budget etat
report reports | bericht berichte
rule rules policy policies guideline regulation | regel regeln richtlinie vorschrift regelung
responsible responsibility | zuständig verantwortlich zuständigkeit
contact reach | kontakt erreichen ansprechpartner
open opening | öffnungszeiten geöffnet
close closed closing | geschlossen schließen schließung
emergency urgent | notfall dringend
accident injury | unfall verletzung
doctor physician medical | arzt ärztlich
certificate certification | bescheinigung zertifikat attest
parking | parken parkplatz
key keys | schlüssel
install installation setup | installieren installation einrichten
error fault failure bug | fehler störung
license licence licensed | lizenz lizenzen
author authors writer | autor autoren verfasser
copyright | urheberrecht
warranty liability liable | haftung haften
modify modification modified change changes | ändern änderung geändert
copy copies | kopie kopieren
distribute distribution redistribution redistribute | verteilen weitergabe
allow allowed permit permitted | erlaubt erlauben zulässig
forbid forbidden prohibited | verboten untersagt
run ran running | ausführen läuft
write wrote written | schreiben geschrieben
send sent | senden gesendet schicken
keep kept | behalten aufbewahren aufbewahrt bewahren
hold held | halten
choose chose chosen | wählen auswählen
child children | kind kinder
woman women | frau frauen
man men | mann männer
version release | version ausgabe
requirement requirements require required requires | anforderung voraussetzung voraussetzungen
increase rise rose risen jump jumped grow grew growth | steigen gestiegen stieg anstieg zunahme
decrease fall fell fallen drop dropped decline | sinken gesunken sank rückgang abnahme
share percentage percent proportion rate | anteil prozent quote
fast quick quickly speed | schnell zügig
weight weigh weighs heavy | gewicht schwer wiegen wiegt
batch batches | charge chargen
supplier vendor manufacturer | lieferant hersteller
stock inventory warehouse | lager bestand lagerbestand
parcel package | paket
tent | zelt
jacket | jacke
backpack | rucksack rucksäcke
zipper zip | reißverschluss reißverschlüsse
seam | naht nähte
voucher | gutschein
support supported supports | unterstützung unterstützt
abroad foreign | ausland
germany german | deutschland deutsch
austria austrian | österreich österreichisch
switzerland swiss | schweiz schweizer
france french | frankreich französisch
italy italian | italien italienisch
spain spanish | spanien spanisch
netherlands dutch | niederlande niederländisch
poland polish | polen polnisch
denmark danish | dänemark dänisch
norway norwegian | norwegen norwegisch
sweden swedish | schweden schwedisch
europe european | europa europäisch
"""

GROUPS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = tuple(
    (tuple(english.split()), tuple(german.split()))
    for english, _, german in (line.partition("|") for line in _GROUPS.strip().splitlines())
)
"""Pairs of English and German words of one meaning."""
