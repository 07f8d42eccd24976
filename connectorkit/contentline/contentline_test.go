package contentline

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func one(t *testing.T, text string) *Component {
	t.Helper()
	all := Parse([]byte(text))
	if len(all) != 1 {
		t.Fatalf("%d components in %q", len(all), text)
	}
	return all[0]
}

func TestProperties(t *testing.T) {
	c := one(t, "BEGIN:VCARD\r\nitem1.TEL;TYPE=home,\"Work\";type=pref:+1 555\r\n"+
		"ORGANIZER;CN=\"Ana: team; one\";X=^'a^^b^n:mailto:ana@example.org\r\n"+
		"NOTE:one\\, two\\; three\\\\ four\\nfive\r\nN:Meier\\;x;Ana;;;\r\nTEL;CELL:7\r\nEND:VCARD\r\n")
	tel := c.All("TEL")
	if tel[0].Group != "item1" || !slices.Equal(tel[0].Types(), []string{"home",
		"work"}) || tel[0].Value != "+1 555" || !slices.Equal(tel[1].Types(), []string{"cell"}) {
		t.Errorf("TEL: %+v", tel)
	}
	if o := c.Get("ORGANIZER"); o.Param("CN") != "Ana: team; one" || o.Param("X") != "\"a^b\n" ||
		o.Value != "mailto:ana@example.org" {
		t.Errorf("ORGANIZER: %+v", o)
	}
	if got := c.Text("NOTE"); got != "one, two; three\\ four\nfive" {
		t.Errorf("NOTE: %q", got)
	}
	if got := c.Get("N").Fields(); !slices.Equal(got, []string{"Meier;x", "Ana", "", "", ""}) {
		t.Errorf("N: %q", got)
	}
}

// TestHostileTexts are the faults of the format that are met in the wild.
func TestHostileTexts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a fold within a character", "BEGIN:X\r\nS:caf\xc3\r\n \xa9\r\nEND:X", "café"},
		{"line feeds alone, tabs", "BEGIN:X\nS:a\n\tb\nEND:X", "ab"},
		{"carriage returns alone", "BEGIN:X\rS:ab\rEND:X", "ab"},
		{"a byte order mark", "\xef\xbb\xbfBEGIN:X\nS:ab\nEND:X", "ab"},
		{"UTF-16", "\xff\xfeB\x00E\x00G\x00I\x00N\x00:\x00X\x00\n\x00S\x00:\x00a\x00b\x00", "ab"},
		{"UTF-16, big endian, half a character", "\xfe\xff\x00B\x00E\x00G\x00I\x00N\x00:\x00X\x00\n" +
			"\x00S\x00:\x00a\x00b\x00", "ab"},
		{"Windows-1252", "BEGIN:X\nS:caf\xe9 \x80\nEND:X", "café €"},
		{"control characters", "BEGIN:X\nS:a\x00\x1b[31mb\nEND:X", "a[31mb"},
		{"no END", "BEGIN:X\nS:ab", "ab"},
		{"an END too many", "BEGIN:X\nEND:Y\nS:ab\nEND:X\nEND:X", "ab"},
		{"a break that is not escaped", "BEGIN:X\nS:a\nb c\nEND:X", "a\nb c"},
		{"a quote that does not end", "BEGIN:X\nS;P=\"q:ab\nEND:X", "ab"},
		{"quoted-printable", "BEGIN:X\nS;ENCODING=QUOTED-PRINTABLE:caf=C3=A9 =\nund=0Amehr\nEND:X", "café und\nmehr"},
		{"small letters", "begin:x\ns:ab\nend:x", "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := one(t, c.text).Text("S"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestComponentsThatDoNotEnd(t *testing.T) {
	cal := one(t, "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nBEGIN:VALARM\nUID:alarm\nBEGIN:VEVENT\nUID:2\nEND:VEVENT\n"+
		"X-Y:1\nEND:VCALENDAR")
	if len(cal.Children) != 2 || cal.Children[0].Text("UID") != "1" || cal.Children[1].Text("UID") != "2" ||
		cal.Text("X-Y") != "1" {
		t.Errorf("%+v", cal)
	}
}

func TestLongLineIsCut(t *testing.T) {
	c := one(t, "BEGIN:X\nATTACH:"+strings.Repeat("A", 3*maxLineBytes)+"\n "+strings.Repeat("B",
		maxLineBytes)+"\nS:ab\nEND:X")
	if len(c.Get("ATTACH").Value) > maxLineBytes || c.Text("S") != "ab" {
		t.Errorf("%d bytes kept, then %q", len(c.Get("ATTACH").Value), c.Text("S"))
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("BEGIN:VCARD\nN;CHARSET=utf-8;ENCODING=QUOTED-PRINTABLE:=C3=\n=A9;x\nEND:VCARD"))
	f.Add([]byte("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;TZID=\"a:b\":2026\r\n 0101\r\nBEGIN:VALARM\r\n"))
	f.Add([]byte("\xfe\xff\x00B\x00E"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var look func(c *Component, depth int)
		look = func(c *Component, depth int) {
			if depth > maxComponentDepth+1 {
				t.Fatalf("components nest %d deep", depth)
			}
			for _, p := range c.Properties {
				if !utf8.ValidString(p.Text()) || p.Name == "" {
					t.Fatalf("property %+v", p)
				}
				_, _, _ = p.List(), p.Fields(), p.Types()
			}
			for _, child := range c.Children {
				look(child, depth+1)
			}
		}
		for _, c := range Parse(text) {
			look(c, 0)
		}
	})
}
