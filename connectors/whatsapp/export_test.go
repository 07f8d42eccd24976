package whatsapp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestForms holds the first line of a message in every form that is known, with what cannot
// be seen in it.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, want string }{
		{"[1/2/26, 10:11:12 AM] Ana: text", "2026-01-02T10:11:12"},
		{"\u200e[1/2/26, 10:11:12\u202fPM] Ana: text", "2026-01-02T22:11:12"},
		{"[02.01.26, 10:11:12] Ana: text", "2026-01-02T10:11:12"},
		{"[2026-01-02, 10:11:12] Ana: text", "2026-01-02T10:11:12"},
		{"[2/1/2026 10:11:12] Ana: text", "2026-01-02T10:11:12"},
		{"1/2/26, 10:11\u202fAM - Ana: text", "2026-01-02T10:11:00"},
		{"1/2/26, 12:11 AM - Ana: text", "2026-01-02T00:11:00"},
		{"1/2/26, 12:11 pm - Ana: text", "2026-01-02T12:11:00"},
		{"02/01/2026, 10:11 - Ana: text", "2026-01-02T10:11:00"},
		{"02/01/2026 10:11 - Ana: text", "2026-01-02T10:11:00"},
		{"02.01.26, 10:11 - Ana: text", "2026-01-02T10:11:00"},
		{"2.1.2026 klo 10.11 - Ana: text", ""},
		{"2.1.2026 10.11 - Ana: text", "2026-01-02T10:11:00"},
		{"2023-12-20, 5:46 p.m. - Ana: text", "2023-12-20T17:46:00"},
		{"2023/12/20, 5:46 pm - Ana: text", "2023-12-20T17:46:00"},
		{"28/3/2025, 9:29 p.\u00a0m. - Ana: text", "2025-03-28T21:29:00"},
		{"28/3/2025, 9:29 a. m. - Ana: text", "2025-03-28T09:29:00"},
		{"24/3/14, 13:59:59: Ana: text", "2014-03-24T13:59:59"},
		{"10/03/2012 17:03:48: Ana: text", "2012-03-10T17:03:48"},
		{"2023/12/20 17:46 - Ana: text", "2023-12-20T17:46:00"},
		{"2023/12/20 午後5:46 - Ana: text", "2023-12-20T17:46:00"},
		{"[2023/12/20 水曜日 17:46:01] Ana: text", "2023-12-20T17:46:01"},
		{"2023. 12. 20. 오후 5:46 - Ana: text", "2023-12-20T17:46:00"},
		{"٢٠\u200f/١٢\u200f/٢٠٢٣، ٥:٤٦ م - Ana: text", "2023-12-20T17:46:00"},
		{"২০/১২/২০২৩, ৫:৪৬ PM - Ana: text", "2023-12-20T17:46:00"},
		{"20/12/2566 17:46 - Ana: text", "2023-12-20T17:46:00"},
		{"31/02/2026, 10:11 - Ana: text", ""},
		{"1/2/26, 25:11 - Ana: text", ""},
		{"1/2/26, 10:11 Ana: text", ""},
		{"version 1.2.26, 10:11 - Ana: text", ""},
		{"1/2-26, 10:11 - Ana: text", ""},
	} {
		order := orderDayFirst
		if strings.Contains(c.line, "1/2/26") {
			order = monthFirst
		}
		p := parseExport(c.line+"\n", order)
		if c.want == "" {
			if len(p.lines) > 0 {
				t.Errorf("%q begins a message", c.line)
			}
			continue
		}
		if len(p.lines) != 1 {
			t.Errorf("%q begins none", c.line)
			continue
		}
		l := p.lines[0]
		if at, _ := l.stamp.dateTime(p.dayFirst); at.Format("2006-01-02T15:04:05") != c.want || l.author != "Ana" ||
			l.text != "text" {
			t.Errorf("%q is %v by %q: %q", c.line, at, l.author, l.text)
		}
	}
}

// TestOrderOfDates shows that the order of day and month is decided for the whole file.
func TestOrderOfDates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dates string
		first bool
	}{
		"a day above twelve":             {"1/2/26 3/4/26 13/4/26", true},
		"a month that cannot be":         {"1/2/26 3/4/26 3/14/26", false},
		"time goes forward":              {"1/2/26 2/2/26 5/2/26 1/3/26", true},
		"time goes forward, month first": {"1/9/26 1/11/26 2/3/26 2/4/26", false},
		"one line of another order":      {"13/1/26 14/1/26 15/1/26 1/15/26", true},
	} {
		var text strings.Builder
		for _, date := range strings.Fields(c.dates) {
			text.WriteString(date + ", 10:11 - Ana: hello\n")
		}
		if p := parseExport(text.String(), orderUnknown); p.dayFirst != c.first {
			t.Errorf("%s: day first is %v", name, p.dayFirst)
		}
	}
}

// TestLines holds what becomes of the lines of a chat.
func TestLines(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"\ufeffnot a message",
		"13/01/2026, 10:11 - Messages and calls are end-to-end encrypted. Tap to learn more.",
		"13/01/2026, 10:11 - Ana: one",
		"",
		"  two: [1/2/26, 10:11:12] Ben: pasted",
		"[1/2/26, 10:11:12] Ben: pasted",
		"31/02/2026, 10:11 - Ana: no such day",
		"13/01/2026, 10:12 - Ben changed the subject from \"a: b\" to \"c\"",
		"13/01/2026, 10:12 - ~\u00a0Ben: <Media omitted>",
		"13/01/2026, 10:13 - Ben: IMG-20260113-WA0001.jpg (file attached)",
		"the caption",
		"13/01/2026, 10:14 - Ben: This message was deleted",
		"13/01/2026, 10:15 - \u202a+1 555 0100\u202c: hello \u2068@Ana\u2069 <This message was edited>",
		"13/01/2026, 10:16 - Ana:",
		"13/01/2026, 10:16 - Ana: ok",
		"13/01/2026, 10:16 - Ana: ok",
	}, "\r\n")
	settings := ownerSettings{zone: time.UTC}
	p := parseExport(text, orderUnknown)
	c, list := settings.recordsOfExport(p, "WhatsApp Chat with The crew (2).txt")
	if c.Title != "The crew" || p.rejected != 1 || len(c.Participants) != 3 {
		t.Errorf("%+v, %d lines before it", c, p.rejected)
	}
	type is struct{ kind, author, content string }
	want := []is{
		{"event", "", "Messages and calls are end-to-end encrypted. Tap to learn more."},
		{"message", "Ana", "one\n\n  two: [1/2/26, 10:11:12] Ben: pasted\n[1/2/26, 10:11:12] Ben: pasted\n" +
			"31/02/2026, 10:11 - Ana: no such day"},
		{"event", "", "Ben changed the subject from \"a: b\" to \"c\""},
		{"file", "Ben", ""}, {"file", "Ben", "the caption"}, {"deleted", "Ben", ""}, {"message", "+1 555 0100", "hello @Ana"},
		{"message", "Ana", ""}, {"message", "Ana", "ok"}, {"message", "Ana", "ok"},
	}
	ids := map[string]bool{}
	for i, m := range list {
		ids[m.ID] = true
		if i < len(want) && (is{m.Kind, m.Author, m.Content}) != want[i] {
			t.Errorf("message %d is %q %q %q", i, m.Kind, m.Author, m.Content)
		}
	}
	if len(list) != len(want) || len(ids) != len(want) {
		t.Errorf("%d messages with %d ids", len(list), len(ids))
	}
	if a := list[4].attachment; a == nil || a.Filename != "IMG-20260113-WA0001.jpg" || a.MessageID != list[4].ID ||
		!list[6].Edited {
		t.Errorf("%+v", a)
	}
}

// TestLinesOfAPhoneThatMarksItsOwn holds what a phone of the other kind writes: events in the
// name of the group, and marks before what the app wrote.
func TestLinesOfAPhoneThatMarksItsOwn(t *testing.T) {
	t.Parallel()
	text := "[13.01.26, 10:11:12] The crew: \u200eAna added Luis\n" +
		"[13.01.26, 10:11:13] Ana: \u200e<attached: 00000012-PHOTO-2026-01-13-10-11-13.jpg>\n" +
		"\u200e[13.01.26, 10:11:14] Ana: \u200eimage omitted\n" +
		"[13.01.26, 10:11:15] Ana: \u200ePOLL:\nWhere?\n\u200eOPTION: Here (2 votes)\n" +
		"[13.01.26, 10:11:16] Luis: text\n"
	c, list := ownerSettings{zone: time.UTC}.recordsOfExport(parseExport(text, orderUnknown),
		"WhatsApp Chat - The crew.zip")
	var got []string
	for _, m := range list {
		got = append(got, m.Kind+"/"+m.Author)
	}
	if strings.Join(got, " ") != "event/ file/Ana file/Ana message/Ana message/Luis" ||
		strings.Join(c.Participants, " ") != "Ana Luis" {
		t.Errorf("%v %v", got, c.Participants)
	}
	if list[1].attachment == nil || list[2].attachment != nil || list[0].SentAt != "2026-01-13T10:11:12.000Z" {
		t.Errorf("%+v", list[1])
	}
}

// TestWhatAPhoneMarks shows that documents with their pages, shared places and calls have their author
// although the phone marks them as its own words, and that the mark of an edit is no text.
func TestWhatAPhoneMarks(t *testing.T) {
	t.Parallel()
	text := "[13.01.26, 10:11:13] Ana: \u200eInvoice No 7.pdf • \u200e1 page \u200e<attached: 00000012-Invoice No " +
		"7.pdf>\n" +
		"[13.01.26, 10:11:14] Ana: \u200eHarbour Library (96 Quay Rd, Port): https://foursquare.com/v/4ac518cef964\n" +
		"[13.01.26, 10:11:15] Luis: \u200eLocation: https://maps.google.com/?q=51.5,-0.09\n" +
		"[13.01.26, 10:11:16] Luis: \u200eMissed voice call\n" +
		"[13.01.26, 10:11:17] Ana: \u200eVideo call, \u200e5 min\n" +
		"[13.01.26, 10:11:18] Ana: a changed word \u200e<This message was edited>\u200e\n" +
		"[13.01.26, 10:11:19] The crew: \u200eAna added Luis\n"
	_, list := ownerSettings{zone: time.UTC}.recordsOfExport(parseExport(text, orderUnknown),
		"WhatsApp Chat - The crew.zip")
	var got []string
	for _, m := range list {
		got = append(got, m.Kind+"/"+m.Author+"/"+m.Content)
	}
	want := "file/Ana/Invoice No 7.pdf; location/Ana/Harbour Library (96 Quay Rd, Port): " +
		"https://foursquare.com/v/4ac518cef964; location/Luis/Location: https://maps.google.com/?q=51.5,-0.09; " +
		"call/Luis/Missed voice call; call/Ana/Video call, 5 min; message/Ana/a changed word; event//Ana added Luis"
	if strings.Join(got, "; ") != want || !list[5].Edited {
		t.Errorf("stored:\n%s\nwant\n%s", strings.Join(got, "; "), want)
	}
	if a := list[0].attachment; a == nil || a.Filename != "00000012-Invoice No 7.pdf" ||
		a.ContentType != "application/pdf" {
		t.Errorf("the document is %+v", a)
	}
}

// FuzzExport holds that no text makes the parser fail, that it keeps every message in its
// order, and that a longer export has the ids of a shorter one.
func FuzzExport(f *testing.F) {
	f.Add("13/01/2026, 10:11 - Ana: one\ntwo\n13/01/2026, 10:12 - Ben: three\n", 2)
	f.Add("\u200e[1/2/26, 10:11:12\u202fPM] A: \u200e<attached: a.jpg>\r\n[2/2/26, 1:1:1 AM] B:", 0)
	f.Add("٢٠/١٢/٢٠٢٣، ٥:٤٦ م - : \xff\xfe\n2023. 12. 20. 오후 5:46 - x", 1)
	f.Fuzz(func(t *testing.T, text string, from int) {
		text = decodeText([]byte(text))
		reported := ownerSettings{zone: time.UTC}
		_, list := reported.recordsOfExport(parseExport(text, orderUnknown), "x.txt")
		ids := map[string]bool{}
		for _, m := range list {
			if ids[m.ID] || m.SentAt == "" || m.Kind == "" {
				t.Fatalf("%+v", m.messageRecord)
			}
			ids[m.ID] = true
		}
		_, same := reported.recordsOfExport(parseExport(text+"\n", orderUnknown), "x (1).txt")
		if len(same) != len(list) {
			t.Fatalf("%d messages and %d", len(list), len(same))
		}
		for i := range list {
			if same[i].ID != list[i].ID {
				t.Fatalf("%s is %s in another export", list[i].ID, same[i].ID)
			}
		}
	})
}

// TestDecodedText reads exports that another program has converted.
func TestDecodedText(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"\xff\xfea\x00\xe9\x00=\xd8\x00\xde": "\ufeffa\u00e9\U0001f600",
		"\xfe\xff\x00a\x00\xe9\xd8=\xde\x00": "\ufeffa\u00e9\U0001f600",
		"\xff\xfea\x00b":                     "\ufeffa", "a\u00e9": "a\u00e9", "a\xe9b": "a\ufffdb", "\xff": "\ufffd", "": "",
	} {
		if got := decodeText([]byte(content)); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
}

// TestContentTypes names a type for every file that WhatsApp exports.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	for types, names := range map[string]string{
		"image/jpeg": "a.jpg a.JPEG", "image/png": "a.png", "image/webp": "a.webp", "image/gif": "a.gif",
		"image/heic": "a.heic", "video/mp4": "a.mp4", "video/3gpp": "a.3gp", "video/quicktime": "a.mov",
		"audio/ogg": "a.opus a.ogg", "audio/mp4": "a.m4a", "audio/aac": "a.aac",
		"audio/mpeg": "a.mp3", "audio/amr": "a.amr",
		"application/pdf": "a.pdf", "text/vcard": "a.vcf", "text/plain": "a.txt", "application/zip": "a.zip",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": "a.docx",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":       "a.xlsx",
		"application/octet-stream": "a a.b.c",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := contentType(name); got != types {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

// TestChatOfAnExport counts the messages of a chat and names its people and times, in whatever order lines are.
func TestChatOfAnExport(t *testing.T) {
	t.Parallel()
	p := parseExport("13/01/2026, 10:11 - Messages are encrypted.\n14/01/2026, 10:11 - Ben: two\n"+
		"15/01/2026, 09:00 - Ana: last\n13/01/2026, 08:00 - Ana: early\n", orderUnknown)
	c, list := ownerSettings{zone: time.UTC}.recordsOfExport(p, "WhatsApp Chat with Ben.txt")
	got := fmt.Sprint(c.Title, c.Participants, *c.MessageCount, c.First, c.Last, c.Source, len(list), list[0].Kind)
	if want := "Ben[Ana Ben] 42026-01-13T08:00:00.000Z2026-01-15T09:00:00.000Zexport4event"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	named, _ := ownerSettings{zone: time.UTC}.recordsOfExport(p, "chat.txt")
	renamed, _ := ownerSettings{zone: time.UTC}.recordsOfExport(p, "chat (2).txt")
	if named.ID != renamed.ID || named.ID == c.ID {
		t.Errorf("ids %s, %s, %s", c.ID, named.ID, renamed.ID)
	}
}
