package googlecalendar

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzEvent shows that any input for an event becomes a valid record, a deletion or an unreadable item.
func FuzzEvent(f *testing.F) {
	for _, text := range []string{
		`{"id":"a1","status":"cancelled"}`,
		`{"id":"a1_20260305","status":"cancelled","recurringEventId":"a1","originalStartTime":{"date":"2026-03-05"}}`,
		`{"id":"a1","start":{"dateTime":"2026-03-05T10:00:00+01:00","timeZone":"Europe/Madrid"},` +
			`"recurrence":["RRULE:FREQ=DAILY","EXRULE:FREQ=WEEKLY","RDATE;VALUE=DATE:20260401"]}`,
		`{"id":"a1","start":{"dateTime":"2026-03-05T10:00:00Z"},"end":{"dateTime":"nonsense"}}`,
		`{"id":7}`, `{"id":"a1","recurrence":["END:VEVENT","BEGIN:VEVENT\r\nX"],"attendees":[{}],"organizer":{},` +
			`"reminders":{"overrides":[{"minutes":5}]}}`,
	} {
		f.Add([]byte(text))
	}
	validate := Connector().Validate
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsontext.Value(raw).Kind() != '{' || !jsontext.Value(raw).IsValid() {
			return
		}
		got := readCalendarEvent("calendar", raw)
		if got.Key == "" || got.Deleted {
			if got.Key == "" && got.Deleted {
				t.Error("something without a name was deleted")
			}
			return
		}
		var w wireEventBody
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatalf("what cannot be read was read: %v", err)
		}
		r, err := w.toRecord("calendar")
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var tree map[string]any
		if err := json.Unmarshal(text, &tree); err != nil {
			t.Fatal(err)
		}
		if err := validate("events", tree); err != nil {
			t.Errorf("%v: %s", err, text)
		}
	})
}

// A time stays what Google shows; one without the name of a zone is that of UTC, and a day stays a day.
func TestMoment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at         wireMoment
		text, kind string
	}{
		{wireMoment{Date: "2026-03-05"}, "2026-03-05", "date"},
		{wireMoment{Time: "2026-03-05T10:00:00+01:00", Zone: "Europe/Madrid"}, "2026-03-05T10:00:00+01:00", "zoned"},
		{wireMoment{Time: "2026-03-05T10:00:00+01:00"}, "2026-03-05T09:00:00Z", "utc"},
		{wireMoment{}, "", ""},
	} {
		if text, kind, err := c.at.momentText(); text != c.text || kind != c.kind || err != nil {
			t.Errorf("%+v is %q, %q, %v", c.at, text, kind, err)
		}
	}
	for _, bad := range []wireMoment{{Date: "2026-02-30"}, {Time: "10:00"}} {
		if _, _, err := bad.momentText(); err == nil {
			t.Errorf("%+v is no time", bad)
		}
	}
}
