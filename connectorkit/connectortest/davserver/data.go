package davserver

import (
	"fmt"
	"strings"
	"time"
)

// The things are made from their number and from how often they were edited, so that every
// account of a shape is alike. One in seven is a series with a changed occurrence, one in
// five a whole day, one in eleven a task.

var summaryWords = []string{"Review", "Lunch", "Dentist", "Stand-up", "Choir", "Train", "Release", "Yoga", "Parents",
	"Budget"}

// calendarObject is the object number i.
func calendarObject(i, edit int) (name, text string) {
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 7 * time.Hour)
	kind, uid := "VEVENT", fmt.Sprintf("event-%05d@example.org", i)
	if i%11 == 5 {
		kind = "VTODO"
	}
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(foldLine(fmt.Sprintf(format, args...))) }
	component := func(more func(), shift time.Duration) {
		line("BEGIN:%s", kind)
		line("UID:%s", uid)
		line("DTSTAMP:20260101T000000Z")
		at := start.Add(shift)
		switch {
		case i%5 == 0:
			line("DTSTART;VALUE=DATE:%s", at.Format("20060102"))
		case i%3 == 0:
			line("DTSTART;TZID=Europe/Madrid:%s", at.Format("20060102T150405"))
		default:
			line("DTSTART:%s", at.Format("20060102T150405Z"))
		}
		line(`SUMMARY:%s %d\, edition %d`, summaryWords[i%len(summaryWords)], i, edit)
		line(`DESCRIPTION:%s`, strings.Repeat(`Bring the papers\; ask Ana about the café. `, 1+i%4)+`\nSee you`)
		line("LAST-MODIFIED:%s", time.Date(2026, 2, 1, 0, i, edit, 0, time.UTC).Format("20060102T150405Z"))
		more()
		line("END:%s", kind)
	}
	line("BEGIN:VCALENDAR")
	line("VERSION:2.0")
	line("PRODID:-//test//EN")
	component(func() {
		switch {
		case kind == "VTODO":
			line("STATUS:NEEDS-ACTION")
			line("PRIORITY:%d", i%9)
		case i%7 == 0 && i%5 != 0 && i%3 != 0:
			line("RRULE:FREQ=WEEKLY;COUNT=8")
			line("EXDATE:%s", start.AddDate(0, 0, 14).Format("20060102T150405Z"))
		case i%2 == 0:
			line(`ORGANIZER;CN="Ana: team":mailto:ana@example.org`)
			line("ATTENDEE;CN=Bo;PARTSTAT=ACCEPTED:mailto:bo@example.org")
			line("LOCATION:Room %d", i)
		}
	}, 0)
	if kind == "VEVENT" && i%7 == 0 && i%5 != 0 && i%3 != 0 && edit%2 == 0 {
		component(func() { line("RECURRENCE-ID:%s", start.AddDate(0, 0, 7).Format("20060102T150405Z")) },
			7*24*time.Hour+time.Hour)
	}
	line("END:VCALENDAR")
	return fmt.Sprintf("event-%05d.ics", i), b.String()
}

// vCardNumber is the card number i.
func vCardNumber(i, edit int) (name, text string) {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(foldLine(fmt.Sprintf(format, args...))) }
	line("BEGIN:VCARD")
	line("VERSION:3.0")
	line("UID:card-%05d", i)
	line("FN:Mira Müller %d edition %d", i, edit)
	line("N:Müller;Mira;;;")
	line("EMAIL;TYPE=HOME:mira%d@example.org", i)
	if i%2 == 0 {
		line("TEL;TYPE=CELL:+34 600 %06d", i)
		line(`NOTE:Met at the fair\, hall %d. %s`, i, strings.Repeat("Ünlike others she writes long letters. ", i%5))
	}
	if i%3 == 0 {
		line(`ADR;TYPE=HOME:;;Calle Mayor %d;Madrid;;28001;España`, i)
		line("BDAY:1990-05-%02d", 1+i%28)
	}
	line("REV:%s", time.Date(2026, 2, 1, 0, i, edit, 0, time.UTC).Format("20060102T150405Z"))
	line("END:VCARD")
	return fmt.Sprintf("card-%05d.vcf", i), b.String()
}

// foldLine breaks a line after 75 bytes at most.
func foldLine(line string) string {
	var b strings.Builder
	for len(line) > 75 {
		cut := 74
		for cut > 0 && line[cut]&0xc0 == 0x80 {
			cut--
		}
		b.WriteString(line[:cut] + "\r\n ")
		line = line[cut:]
	}
	return b.String() + line + "\r\n"
}
