package davserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/emersion/go-vcard"

	"github.com/pdpp-go/pdpp/connectorkit/dav"
	"github.com/pdpp-go/pdpp/providersim"
)

// Truth reads what the server keeps of the account and returns what a complete collection of it holds,
// in the form of the connector's records. The parsers are not ours.
func (a *Account) Truth() providersim.Truth {
	truth, err := a.readTruth()
	if err != nil {
		panic(err) // the interface has no room for it
	}
	return truth
}

func (a *Account) readTruth() (providersim.Truth, error) {
	collections, things := "calendars", "events"
	truth := providersim.Truth{"calendars": {}, "events": {}, "todos": {}}
	if a.books {
		collections, things = "address_books", "contacts"
		truth = providersim.Truth{"address_books": {}, "contacts": {}}
	}
	shelves, err := a.server.shelves(a)
	if err != nil {
		return nil, err
	}
	for _, s := range shelves {
		id := a.home + s.name + "/"
		if a.feed != "" {
			id = dav.RecordKey(a.feed + id)
		}
		entry := map[string]any{"id": id}
		setText(entry, "name", s.title)
		setText(entry, "description", s.description)
		setText(entry, "color", s.color)
		if a.feed != "" {
			entry = map[string]any{"id": id, "name": s.title, "host": "127.0.0.1"}
		} else if !a.books {
			entry["holds"] = []string{"events", "journals", "todos"}
		}
		if err := putItem(truth[collections], id, entry); err != nil {
			return nil, err
		}
		shown := "" // with each event, where the source names it in all of them
		if a.feed != "" {
			shown = s.title
		}
		for name, text := range s.objects {
			if a.books {
				err = contactRecord(truth[things], text, id)
			} else {
				err = calendarFile(truth, text, id, shown)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return truth, nil
}

// readAccountFolders reads the files of an account, a folder for each collection.
func readAccountFolders(a *Account) ([]storedCollection, error) {
	parent := filepath.Dir(a.collectionFolder("x"))
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil, err
	}
	var all []storedCollection
	for _, e := range entries {
		at, s := filepath.Join(parent, e.Name()), storedCollection{name: e.Name(), objects: map[string][]byte{}}
		var isCalendar, isBook bool
		s.title, s.description, s.color, isCalendar, isBook = a.server.layout.props(at)
		if !isCalendar && !a.books || !isBook && a.books {
			continue
		}
		files, err := os.ReadDir(at)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasPrefix(f.Name(), ".") {
				continue
			}
			if s.objects[f.Name()], err = os.ReadFile(filepath.Join(at, f.Name())); err != nil {
				return nil, err
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func calendarFile(truth providersim.Truth, text []byte, id, shown string) error {
	cal, err := ical.NewDecoder(bytes.NewReader(text)).Decode()
	if err != nil {
		return err
	}
	for _, c := range cal.Children {
		stream := map[string]string{ical.CompEvent: "events", ical.CompToDo: "todos"}[c.Name]
		if stream == "" {
			continue
		}
		record, err := componentRecord(c)
		if err != nil {
			return err
		}
		occurrence, _ := record["recurrence_id"].(string)
		record["id"], record["calendar_id"] = dav.RecordKey(id, record["uid"].(string), occurrence), id
		setText(record, "calendar_name", shown)
		if err := putItem(truth[stream], record["id"].(string), record); err != nil {
			return err
		}
	}
	return nil
}

func componentRecord(c *ical.Component) (map[string]any, error) {
	record := map[string]any{"all_day": false}
	text := func(field, name string) {
		if p := c.Props.Get(name); p != nil {
			value, err := p.Text()
			if err != nil {
				value = p.Value
			}
			setText(record, field, value)
		}
	}
	moment := func(field, name string) string {
		p := c.Props.Get(name)
		if p == nil {
			return ""
		}
		if p.ValueType() == ical.ValueDate {
			at, err := p.DateTime(time.UTC)
			setText(record, field, at.Format(time.DateOnly))
			return errorMember("date", err)
		}
		at, err := p.DateTime(time.UTC)
		setText(record, field, at.Format(time.RFC3339))
		switch {
		case p.Params.Get("TZID") != "":
			setText(record, "time_zone", p.Params.Get("TZID"))
			return errorMember("zoned", err)
		case strings.HasSuffix(p.Value, "Z"):
			return errorMember("utc", err)
		}
		return errorMember("floating", err)
	}
	for field, name := range map[string]string{"uid": "UID", "summary": "SUMMARY", "description": "DESCRIPTION",
		"location": "LOCATION"} {
		text(field, name)
	}
	moment("updated_at", "LAST-MODIFIED")
	moment("recurrence_id", "RECURRENCE-ID")
	kind := moment("start", "DTSTART")
	setText(record, "time_kind", kind)
	record["all_day"] = kind == "date"
	if p := c.Props.Get("DTSTART"); p != nil {
		setText(record, "start_raw", p.Value)
	}
	if p := c.Props.Get("STATUS"); p != nil {
		setText(record, "status", strings.ToLower(p.Value))
	}
	if p := c.Props.Get("PRIORITY"); p != nil {
		n, err := strconv.Atoi(p.Value)
		if err != nil {
			return nil, err
		}
		record["priority"] = n
	}
	if p := c.Props.Get("RRULE"); p != nil {
		setText(record, "rrule", p.Value)
	}
	if p := c.Props.Get("EXDATE"); p != nil {
		record["exdates"] = []string{p.Value}
	}
	if p := c.Props.Get("ORGANIZER"); p != nil {
		record["organizer"] = map[string]any{"name": p.Params.Get("CN"), "email": strings.TrimPrefix(p.Value, "mailto:")}
	}
	var invited []any
	for _, p := range c.Props["ATTENDEE"] {
		invited = append(invited, map[string]any{"name": p.Params.Get("CN"), "email": strings.TrimPrefix(p.Value, "mailto:"),
			"status": strings.ToLower(p.Params.Get("PARTSTAT"))})
	}
	if invited != nil {
		record["attendees"] = invited
	}
	return record, nil
}

func errorMember(kind string, err error) string {
	if err != nil {
		return err.Error()
	}
	return kind
}

func contactRecord(out map[string]providersim.Item, text []byte, id string) error {
	card, err := vcard.NewDecoder(bytes.NewReader(text)).Decode()
	if err != nil {
		return err
	}
	uid := card.Value(vcard.FieldUID)
	record := map[string]any{
		"id": dav.RecordKey(id, uid), "address_book_id": id, "uid": uid, "kind": "individual", "has_photo": false,
		"full_name": card.Value(vcard.FieldFormattedName),
	}
	if n := card.Name(); n != nil {
		setText(record, "given_name", n.GivenName)
		setText(record, "family_name", n.FamilyName)
	}
	several := func(field, of string) {
		var all []any
		for _, f := range card[of] {
			e := map[string]any{"value": f.Value}
			var types []string
			for _, kind := range f.Params.Types() {
				types = append(types, strings.ToLower(kind))
			}
			if types != nil {
				e["types"] = types
			}
			all = append(all, e)
		}
		if all != nil {
			record[field] = all
		}
	}
	several("emails", vcard.FieldEmail)
	several("phones", vcard.FieldTelephone)
	var places []any
	for _, a := range card.Addresses() {
		place := map[string]any{"types": []string{"home"}}
		setText(place, "street", a.StreetAddress)
		setText(place, "locality", a.Locality)
		setText(place, "postal_code", a.PostalCode)
		setText(place, "country", a.Country)
		places = append(places, place)
	}
	if places != nil {
		record["addresses"] = places
	}
	setText(record, "birthday", card.Value(vcard.FieldBirthday))
	setText(record, "note", card.Value(vcard.FieldNote))
	if at, err := time.Parse("20060102T150405Z", card.Value(vcard.FieldRevision)); err == nil {
		setText(record, "updated_at", at.Format(time.RFC3339))
	}
	return putItem(out, record["id"].(string), record)
}

// setText leaves empty texts out, as records do.
func setText(record map[string]any, field, text string) {
	if text != "" {
		record[field] = text
	}
}

func putItem(out map[string]providersim.Item, key string, record map[string]any) error {
	data, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if _, twice := out[key]; twice {
		return fmt.Errorf("two things have the key %s", key)
	}
	out[key] = providersim.Item{Data: data}
	return nil
}

// radicaleProps reads what Radicale keeps about a collection.
func radicaleProps(folder string) (name, description, color string, isCalendar, isBook bool) {
	text, err := os.ReadFile(filepath.Join(folder, ".Radicale.props"))
	var props map[string]string
	if err != nil || json.Unmarshal(text, &props) != nil {
		return
	}
	return props["D:displayname"], props["C:calendar-description"] + props["CR:addressbook-description"],
		props["ICAL:calendar-color"],
		props["tag"] == "VCALENDAR", props["tag"] == "VADDRESSBOOK"
}

// xandikosProps reads what Xandikos keeps about a collection, which is a repository of git's.
func xandikosProps(folder string) (name, description, color string, isCalendar, isBook bool) {
	for _, at := range []string{".xandikos", filepath.Join(".git", "config")} {
		text, err := os.ReadFile(filepath.Join(folder, at))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch value = strings.TrimSpace(value); strings.TrimSpace(field) {
			case "displayname":
				name = value
			case "description":
				description = value
			case "color":
				color = value
			case "type":
				isCalendar, isBook = isCalendar || value == "calendar", isBook || value == "addressbook"
			}
		}
	}
	return name, description, color, isCalendar, isBook
}
