package googlecalendar

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzEvent shows that whatever stands for an event becomes what the manifest declares, a deletion or something unreadable.
func FuzzEvent(f *testing.F) {
	for _, text := range []string{
		`{"id":"a1","status":"cancelled"}`,
		`{"id":"a1_20260305","status":"cancelled","recurringEventId":"a1","originalStartTime":{"date":"2026-03-05"}}`,
		`{"id":"a1","start":{"dateTime":"2026-03-05T10:00:00+01:00","timeZone":"Europe/Madrid"},"recurrence":["RRULE:FREQ=DAILY","EXRULE:FREQ=WEEKLY","RDATE;VALUE=DATE:20260401"]}`,
		`{"id":"a1","start":{"dateTime":"2026-03-05T10:00:00Z"},"end":{"dateTime":"nonsense"}}`,
		`{"id":7}`, `{"id":"a1","recurrence":["END:VEVENT","BEGIN:VEVENT\r\nX"],"attendees":[{}],"organizer":{},"reminders":{"overrides":[{"minutes":5}]}}`,
	} {
		f.Add([]byte(text))
	}
	validate := Connector().Validate
	f.Fuzz(func(t *testing.T, raw []byte) {
		if jsontext.Value(raw).Kind() != '{' || !jsontext.Value(raw).IsValid() {
			return
		}
		got := readEvent("calendar", raw)
		if got.ID == "" || got.Deleted {
			if got.ID == "" && got.Deleted {
				t.Error("something without a name was deleted")
			}
			return
		}
		var w wireEvent
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatalf("what cannot be read was read: %v", err)
		}
		r, err := w.record("calendar")
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
		at         moment
		text, kind string
	}{
		{moment{Date: "2026-03-05"}, "2026-03-05", "date"},
		{moment{Time: "2026-03-05T10:00:00+01:00", Zone: "Europe/Madrid"}, "2026-03-05T10:00:00+01:00", "zoned"},
		{moment{Time: "2026-03-05T10:00:00+01:00"}, "2026-03-05T09:00:00Z", "utc"},
		{moment{}, "", ""},
	} {
		if text, kind, err := c.at.text(); text != c.text || kind != c.kind || err != nil {
			t.Errorf("%+v is %q, %q, %v", c.at, text, kind, err)
		}
	}
	for _, bad := range []moment{{Date: "2026-02-30"}, {Time: "10:00"}} {
		if _, _, err := bad.text(); err == nil {
			t.Errorf("%+v is no time", bad)
		}
	}
}
