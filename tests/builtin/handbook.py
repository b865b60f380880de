"""A small company's folder in two languages, and the assistants who work with it."""

from tests.builtin.house import OWN, Staff

ENGLISH = {
    "people/leave.md": """# Leave and holidays

## Annual leave
Every employee has 30 days of paid annual leave per calendar year. Part-time employees have a share in proportion
to their working days.

Unused days expire on 31 March of the following year. Up to 5 days may be carried over with the approval of the
team lead.

## Sick leave
Tell your team lead before 9:00 on the first day. A doctor's certificate is needed from the third day on.

## Parental leave
- Up to 36 months per child
- The request must be made in writing at least 7 weeks before it starts
- Part-time work of up to 32 hours a week is possible
""",
    "people/contracts.md": """# Contracts and notice

The probation period is 6 months. During probation either side may end the contract with 2 weeks' notice.
After probation the notice period is 3 months to the end of a quarter.

A notice must be signed on paper; e-mail is not enough.
""",
    "travel/expenses.md": """# Travel expenses

## Hotels
Hotels are reimbursed up to 120 EUR per night in Germany and up to 180 EUR abroad. Higher prices need the approval of
the head of department before booking.

## Meals
| Duration | Allowance 2024 | Allowance 2025 |
|---|---|---|
| more than 8 hours | 14 EUR | 15 EUR |
| full day | 28 EUR | 30 EUR |

## Taxi and trains
Taxi receipts are reimbursed within 14 days. Trains are second class; first class is allowed on journeys of more
than 3 hours.

## Submitting
1. Scan the receipts.
2. Fill in the form in the portal.
3. Send it to your team lead for approval.
""",
    "travel/booking.md": """# Booking a trip

Flights are booked through the travel desk, never privately. Book at least 14 days ahead. Business class is allowed on
flights of more than 8 hours.

Refunds for cancelled flights go to the company card, not to the employee.
""",
    "it/security.md": """# Security rules

Report a lost or stolen laptop to the IT help desk at once, by phone: 4711. It will be locked and wiped remotely.

Passwords have at least 14 characters and are never shared. They are changed only after an incident.
""",
    "it/laptops.md": """# Laptops

New employees get a laptop on their first day. It is replaced every 4 years.

Private use is allowed outside of working hours.
""",
    "shop/returns.md": """# Returns and refunds for customers

Customers may return shoes within 30 days if they are unworn. Refunds are paid within 5 working days after the parcel
has arrived, to the same account that was used for the payment.
""",
}

GERMAN = {
    "personal/urlaub.md": """# Urlaub und Abwesenheit

## Jahresurlaub
Alle Beschäftigten haben 30 Tage Jahresurlaub. Resturlaub verfällt am 31. März des Folgejahres; bis zu 5 Tage
können mit Genehmigung der Teamleitung übertragen werden.

## Krankheit
Bitte vor 9:00 Uhr bei der Teamleitung melden. Ab dem dritten Tag ist eine ärztliche Bescheinigung nötig.

## Elternzeit
- Bis zu 36 Monate je Kind
- Der Antrag muss mindestens 7 Wochen vorher schriftlich gestellt werden
- Teilzeit bis 32 Wochenstunden ist möglich
""",
    "personal/vertraege.md": """# Verträge und Kündigung

Die Probezeit beträgt 6 Monate. In der Probezeit gilt eine Kündigungsfrist von 2 Wochen, danach von 3 Monaten zum
Quartalsende. Die Kündigung muss schriftlich erfolgen; eine E-Mail reicht nicht.
""",
    "reisen/spesen.md": """# Reisekosten

## Hotels
Hotels werden im Inland bis 120,00 € und im Ausland bis 180,00 € je Nacht erstattet. Höhere Preise genehmigt die
Abteilungsleitung vor der Buchung.

## Verpflegung
| Dauer | Pauschale 2024 | Pauschale 2025 |
|---|---|---|
| mehr als 8 Stunden | 14 € | 15 € |
| ganzer Tag | 28 € | 30 € |

## Taxi
Taxibelege werden innerhalb von 14 Tagen erstattet.
""",
    "it/sicherheit.md": """# Sicherheitsregeln

Ein verlorener oder gestohlener Laptop ist sofort telefonisch beim Helpdesk zu melden (4711). Er wird aus der Ferne gesperrt.

Passwörter haben mindestens 14 Zeichen und werden nie weitergegeben.
""",
}

LOOKING = OWN[:3]

TEAM = (
    Staff(
        "lead",
        "Lead",
        "Takes every question",
        "You lead a team.",
        (*OWN, "spawn_agent"),
        delegates=("travel", "people", "it-help"),
    ),
    Staff("travel", "Travel Desk", "Flights, hotels, expenses and reimbursements on business trips", tools=LOOKING),
    Staff("people", "People Team", "Holidays, sick leave, contracts, notice periods and hiring", tools=LOOKING),
    Staff("it-help", "IT Help", "Laptops, passwords, software and security incidents", tools=LOOKING),
)

TEAM_DE = (
    Staff(
        "lead",
        "Leitung",
        "Nimmt jede Frage an",
        "Du leitest ein Team.",
        (*OWN, "spawn_agent"),
        delegates=("reise", "personal", "it-hilfe"),
    ),
    Staff("reise", "Reisestelle", "Flüge, Hotels, Reisekosten und Spesen", "Antworte aus den Dokumenten.", LOOKING),
    Staff("personal", "Personal", "Urlaub, Krankheit, Verträge, Kündigung, Einstellung", "Antworte aus Dokumenten.", LOOKING),
    Staff("it-hilfe", "IT-Hilfe", "Laptops, Passwörter, Software und Vorfälle", "Antworte aus den Dokumenten.", LOOKING),
)

SOLO = Staff("solo", "Solo", "Answers from the documents")
SOLO_DE = Staff("solo", "Solo", "Antwortet aus den Dokumenten", "Antworte aus den Dokumenten.")
