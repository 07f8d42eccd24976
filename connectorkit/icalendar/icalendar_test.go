package icalendar

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

const zone = "BEGIN:VTIMEZONE\nTZID:Custom 1\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\n" +
	"TZOFFSETTO:+0100\nRRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\nEND:STANDARD\n" +
	"BEGIN:DAYLIGHT\nDTSTART:19700329T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\nRRULE:FREQ=YEARLY;BYMONTH=3;" +
	"BYDAY=-1SU\nEND:DAYLIGHT\nEND:VTIMEZONE\n"

func read(lines string) Appointment {
	return ParseCalendar([]byte("BEGIN:VCALENDAR\n" + zone + "BEGIN:VEVENT\n" + lines +
		"\nEND:VEVENT\nEND:VCALENDAR\n")).Events[0]
}

func TestTimes(t *testing.T) {
	for _, c := range []struct{ lines, start, end, kind string }{
		{"DTSTART:20260305T100000Z\nDTEND:20260305T110000Z", "2026-03-05T10:00:00Z", "2026-03-05T11:00:00Z", timeKindUTC},
		{"DTSTART;TZID=Europe/Madrid:20260705T100000\nDURATION:PT1H30M", "2026-07-05T10:00:00+02:00",
			"2026-07-05T11:30:00+02:00", timeKindZoned},
		{"DTSTART;TZID=Romance Standard Time:20260105T100000", "2026-01-05T10:00:00+01:00", "", timeKindZoned},
		{"DTSTART;TZID=/freeassociation.sourceforge.net/Tzfile/America/Indiana/Knox:20260105T100000",
			"2026-01-05T10:00:00-06:00", "", timeKindZoned},
		{"DTSTART;TZID=/freeassociation.sourceforge.net/Europe/Berlin:20260105T100000", "2026-01-05T10:00:00+01:00", "",
			timeKindZoned},
		{"DTSTART;TZID=Custom 1:20260329T015959", "2026-03-29T01:59:59+01:00", "", timeKindZoned},
		{"DTSTART;TZID=Custom 1:20260329T030000", "2026-03-29T03:00:00+02:00", "", timeKindZoned},
		// the first year of its rules
		{"DTSTART;TZID=Custom 1:19701105T100000", "1970-11-05T10:00:00+01:00", "", timeKindZoned},
		{"DTSTART;TZID=Custom 1:20261025T030000", "2026-10-25T03:00:00+01:00", "", timeKindZoned},
		{"DTSTART;TZID=Nowhere:20260105T100000", "2026-01-05T10:00:00Z", "", kindUnresolved},
		{"DTSTART:20260105T100000", "2026-01-05T10:00:00Z", "", kindFloating},
		{"DTSTART;VALUE=DATE:20260105\nDURATION:P2D", "2026-01-05", "2026-01-07", timeKindDate},
		{"DTSTART;VALUE=DATE:99991231\nDURATION:P9D", "9999-12-31", "", timeKindDate},
		{"DTSTART:nonsense\nDTEND:", "", "", ""},
		{"SUMMARY:no time", "", "", ""},
	} {
		if e := read(c.lines); e.Start != c.start || e.End != c.end || e.TimeKind != c.kind ||
			e.AllDay != (c.kind == timeKindDate) {
			t.Errorf("%q is %q to %q, %q", c.lines, e.Start, e.End, e.TimeKind)
		}
	}
}

func TestEvent(t *testing.T) {
	got := read("UID:abc@example\nDTSTAMP:20260301T090000Z\nDTSTART;TZID=Europe/" +
		"Madrid:20260305T100000\nRRULE:FREQ=WEEKLY;BYDAY=TH\n" +
		"EXDATE;TZID=Europe/Madrid:20260312T100000\nRECURRENCE-ID;TZID=Europe/Madrid;" +
		"RANGE=THISANDFUTURE:20260305T100000\nSUMMARY:Stand-up\\, short\nSTATUS:CONFIRMED\nCATEGORIES:a,b\\,c\n" +
		"ORGANIZER;CN=\"Ana: " +
		"team\":MAILTO:ana@example.org\nATTENDEE;CN=Bo;ROLE=REQ-PARTICIPANT;" +
		"PARTSTAT=ACCEPTED:mailto:bo@example.org\nSEQUENCE:2\nATTACH:x\n" +
		"BEGIN:VALARM\nACTION:DISPLAY\nUID:no\nDESCRIPTION:no\nTRIGGER:-PT15M\nEND:VALARM\nLAST-MODIFIED:20260301T090000Z")
	two := int64(2)
	want := Appointment{CommonFields: CommonFields{
		UID: "abc@example", RecurrenceID: "2026-03-05T10:00:00+01:00", ThisOnwards: true, Summary: "Stand-up, short",
		Status: "confirmed",
		Start:  "2026-03-05T10:00:00+01:00", StartRaw: "20260305T100000", TimeKind: timeKindZoned, TimeZone: "Europe/Madrid",
		Rule: "FREQ=WEEKLY;BYDAY=TH", Except: []string{"TZID=Europe/Madrid:20260312T100000"},
		Categories: []string{"a", "b,c"},
		Organizer:  &Person{Email: "ana@example.org", Name: "Ana: team"},
		Attendees:  []Person{{Email: "bo@example.org", Name: "Bo", Role: "req-participant", Status: "accepted"}},
		Reminders:  []Reminder{{"display", "-PT15M"}}, Attached: 1, Sequence: &two, UpdatedAt: "2026-03-01T09:00:00Z",
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSeveralInOneText(t *testing.T) {
	c := ParseCalendar([]byte("BEGIN:VCALENDAR\nX-WR-CALNAME:Home\nX-PUBLISHED-TTL:PT12H\nBEGIN:VTODO\nUID:t\nDUE;" +
		"VALUE=DATE:20260101\nPRIORITY:1\nPERCENT-COMPLETE:50\nRELATED-TO:p\nEND:VTODO\nEND:VCALENDAR\n" +
		"BEGIN:VCALENDAR\nBEGIN:VJOURNAL\nUID:j\nEND:VJOURNAL\nBEGIN:VEVENT\nUID:e\n"))
	if c.Name != "Home" || c.Refresh != "PT12H" || c.Others != 1 || len(c.Events) != 1 || c.Events[0].UID != "e" {
		t.Errorf("%+v", c)
	}
	if d := c.Todos[0]; d.UID != "t" || d.Due != "2026-01-01" || *d.Priority != 1 || *d.Percent != 50 || d.Parent != "p" {
		t.Errorf("%+v", d)
	}
}

func TestIsCalendar(t *testing.T) {
	for text, want := range map[string]bool{
		"BEGIN:VCALENDAR\r\n": true, "\xef\xbb\xbfbegin:vcalendar": true, "\r\nBEGIN:VCALENDAR": true,
		"<!doctype html>": false, "": false, "BEGIN:VCARD": false,
	} {
		if IsCalendar([]byte(text)) != want {
			t.Errorf("%q", text)
		}
	}
}

// TestWindowsZones compares what the names of Windows mean with the table in Go's own sources, which is
// generated from CLDR, in winter and in summer.
func TestWindowsZones(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "src/time/zoneinfo_abbrs_windows.go"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\t"(.+)": .+// (\S+)$`).FindAllSubmatch(source, -1)
	if len(rows) < 130 {
		t.Fatalf("%d zones in Go's table", len(rows))
	}
	for _, row := range rows {
		want, err := time.LoadLocation(string(row[2]))
		if err != nil {
			t.Fatal(err)
		}
		for _, month := range []time.Month{time.January, time.July} {
			at := time.Date(2026, month, 5, 10, 0, 0, 0, want)
			name := string(row[1])
			if got := read("DTSTART;TZID=" + name + ":" + at.Format("20060102T150405")); got.Start != at.Format(time.RFC3339) {
				t.Errorf("%s: %s, want %s", name, got.Start, at)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("BEGIN:VCALENDAR\n" + zone +
		"BEGIN:VEVENT\nDTSTART;TZID=Custom 1:20260329T030000\nDURATION:-P1W2DT3H4M5S\nEND:VEVENT\nEND:VCALENDAR"))
	f.Add([]byte("BEGIN:VTODO\nDUE:00000101\nRRULE:FREQ=YEARLY;COUNT=1;UNTIL=2026;BYDAY=1\nSEQUENCE:99999999999999999999"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := ParseCalendar(text)
		for _, e := range c.Events {
			for _, at := range []string{e.Start, e.End, e.UpdatedAt} {
				_, err := time.Parse(time.RFC3339, at)
				_, day := time.Parse(time.DateOnly, at)
				if at != "" && err != nil && day != nil {
					t.Fatalf("time %q", at)
				}
			}
			if b, err := json.Marshal(e); err != nil || !utf8.Valid(b) {
				t.Fatalf("event cannot be written: %v", err)
			}
		}
	})
}
