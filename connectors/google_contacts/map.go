package googlecontacts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/googleapi"
)

type groupRecord struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitzero"`
	Kind    string `json:"kind,omitzero"`
	Members int64  `json:"member_count"`
}

func readGroup(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		ID        string `json:"resourceName"`
		Name      string `json:"name"`
		Formatted string `json:"formattedName"`
		Type      string `json:"groupType"`
		Members   int64  `json:"memberCount"` // left out when it is nothing
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(named(raw), err)}
	}
	kind := map[string]string{"USER_CONTACT_GROUP": "own", "SYSTEM_CONTACT_GROUP": "system"}[wire.Type]
	return connectorkit.ListItem{Key: wire.ID,
		Record: connectorkit.Upsert(groupRecord{ID: wire.ID, Name: cmp.Or(wire.Formatted, wire.Name), Kind: kind,
			Members: wire.Members})}
}

// named is the name of a resource; empty when it has none that can be read.
func named(raw jsontext.Value) string {
	var wire struct {
		ID any `json:"resourceName"`
	}
	if json.Unmarshal(raw, &wire) != nil || wire.ID == nil {
		return ""
	}
	return fmt.Sprint(wire.ID)
}

// personRecord is a contact as every source of contacts has it, with what Google adds.
type personRecord struct {
	ID           string    `json:"id"`
	FullName     string    `json:"full_name"`
	Given        string    `json:"given_name,omitzero"`
	Family       string    `json:"family_name,omitzero"`
	Additional   string    `json:"additional_names,omitzero"`
	Prefix       string    `json:"name_prefix,omitzero"`
	Suffix       string    `json:"name_suffix,omitzero"`
	Nickname     string    `json:"nickname,omitzero"`
	Organization string    `json:"organization,omitzero"`
	Department   string    `json:"department,omitzero"`
	Title        string    `json:"title,omitzero"`
	Emails       []entry   `json:"emails,omitempty"`
	Phones       []entry   `json:"phones,omitempty"`
	Addresses    []address `json:"addresses,omitempty"`
	URLs         []entry   `json:"urls,omitempty"`
	Messaging    []entry   `json:"messaging,omitempty"`
	Related      []entry   `json:"related,omitempty"`
	Dates        []entry   `json:"dates,omitempty"`
	Custom       []entry   `json:"custom,omitempty"`
	Birthday     string    `json:"birthday,omitzero"`
	Note         string    `json:"note,omitzero"`
	Gender       string    `json:"gender,omitzero"`
	FileAs       string    `json:"file_as,omitzero"`
	Phonetic     string    `json:"phonetic_name,omitzero"`
	Occupations  []entry   `json:"occupations,omitempty"`
	Interests    []entry   `json:"interests,omitempty"`
	Skills       []entry   `json:"skills,omitempty"`
	Calendars    []entry   `json:"calendar_urls,omitempty"`
	SIP          []entry   `json:"sip_addresses,omitempty"`
	ExternalIDs  []entry   `json:"external_ids,omitempty"`
	Locations    []entry   `json:"locations,omitempty"`
	Locales      []entry   `json:"locales,omitempty"`
	Keywords     []entry   `json:"keywords,omitempty"`
	ClientData   []entry   `json:"client_data,omitempty"`
	Jobs         []job     `json:"organizations,omitempty"`
	PhotoURL     string    `json:"photo_url,omitzero"`
	Groups       []string  `json:"group_ids,omitempty"`
	HasPhoto     bool      `json:"has_photo"`
	UpdatedAt    string    `json:"updated_at,omitzero"`
}

// entry is one of several things of a kind.
type entry struct {
	Value     string `json:"value"`
	Type      string `json:"type,omitzero"`
	Preferred bool   `json:"preferred,omitzero"`
}

type address struct {
	Formatted string `json:"formatted,omitzero"`
	Street    string `json:"street,omitzero"`
	Extended  string `json:"extended,omitzero"`
	POBox     string `json:"po_box,omitzero"`
	Locality  string `json:"locality,omitzero"`
	Region    string `json:"region,omitzero"`
	Postcode  string `json:"postal_code,omitzero"`
	Country   string `json:"country,omitzero"`
	Type      string `json:"type,omitzero"`
	Preferred bool   `json:"preferred,omitzero"`
}

// job is one of several organizations.
type job struct {
	Name        string `json:"name,omitzero"`
	Department  string `json:"department,omitzero"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	Location    string `json:"location,omitzero"`
	Domain      string `json:"domain,omitzero"`
	Type        string `json:"type,omitzero"`
	Current     bool   `json:"current,omitzero"`
	Start       string `json:"start,omitzero"`
	End         string `json:"end,omitzero"`
}

// field is what all fields of a person have; which of the others it has is said by its place.
type field struct {
	Meta struct {
		Primary bool `json:"primary"`
	} `json:"metadata"`
	Type     string `json:"type"`
	Value    string `json:"value"`
	Username string `json:"username"`
	Protocol string `json:"protocol"`
	Person   string `json:"person"`
	Key      string `json:"key"`
	Date     *day   `json:"date"`
	Text     string `json:"text"`
	URL      string `json:"url"`
}

// day is a date; a part that is not known is zero.
type day struct {
	Year  int `json:"year"`
	Month int `json:"month"`
	Day   int `json:"day"`
}

// text spells a date as 2026-03-05, without its year as --03-05; empty when month or day is missing.
func (d *day) text() string {
	switch {
	case d == nil || d.Month < 1 || d.Month > 12 || d.Day < 1 || d.Day > 31 || d.Year < 0 || d.Year > 9999:
		return ""
	case d.Year == 0:
		return fmt.Sprintf("--%02d-%02d", d.Month, d.Day)
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

type wirePerson struct {
	ID   string `json:"resourceName"`
	Meta struct {
		Deleted bool `json:"deleted"`
		Sources []struct {
			Updated string `json:"updateTime"`
		} `json:"sources"`
	} `json:"metadata"`
	Names []struct {
		Display string `json:"displayName"`
		Given   string `json:"givenName"`
		Family  string `json:"familyName"`
		Middle  string `json:"middleName"`
		Prefix  string `json:"honorificPrefix"`
		Suffix  string `json:"honorificSuffix"`

		PhoneticGiven  string `json:"phoneticGivenName"`
		PhoneticFamily string `json:"phoneticFamilyName"`
		PhoneticFull   string `json:"phoneticFullName"`
	} `json:"names"`
	Organizations []struct {
		Name        string `json:"name"`
		Department  string `json:"department"`
		Title       string `json:"title"`
		Description string `json:"jobDescription"`
		Location    string `json:"location"`
		Domain      string `json:"domain"`
		Type        string `json:"type"`
		Current     bool   `json:"current"`
		Start       *day   `json:"startDate"`
		End         *day   `json:"endDate"`
	} `json:"organizations"`
	Addresses []struct {
		field
		Formatted string `json:"formattedValue"`
		Street    string `json:"streetAddress"`
		Extended  string `json:"extendedAddress"`
		POBox     string `json:"poBox"`
		City      string `json:"city"`
		Region    string `json:"region"`
		Postcode  string `json:"postalCode"`
		Country   string `json:"country"`
	} `json:"addresses"`
	Memberships []struct {
		Group struct {
			ID string `json:"contactGroupResourceName"`
		} `json:"contactGroupMembership"`
	} `json:"memberships"`
	Photos []struct {
		Default bool   `json:"default"`
		URL     string `json:"url"`
	} `json:"photos"`
	Nicknames   []field `json:"nicknames"`
	Biographies []field `json:"biographies"`
	Birthdays   []field `json:"birthdays"`
	Emails      []field `json:"emailAddresses"`
	Phones      []field `json:"phoneNumbers"`
	URLs        []field `json:"urls"`
	IMs         []field `json:"imClients"`
	Relations   []field `json:"relations"`
	Events      []field `json:"events"`
	Custom      []field `json:"userDefined"`
	Genders     []field `json:"genders"`
	FileAs      []field `json:"fileAses"`
	Occupations []field `json:"occupations"`
	Interests   []field `json:"interests"`
	Skills      []field `json:"skills"`
	SIP         []field `json:"sipAddresses"`
	ExternalIDs []field `json:"externalIds"`
	Locations   []field `json:"locations"`
	Locales     []field `json:"locales"`
	Keywords    []field `json:"miscKeywords"`
	ClientData  []field `json:"clientData"`
	Calendars   []field `json:"calendarUrls"`
}

func readPerson(raw jsontext.Value) googleapi.Thing {
	var w wirePerson
	switch err := json.Unmarshal(raw, &w); {
	case err != nil || w.ID == "":
		return googleapi.Thing{Record: connectorkit.Unreadable(named(raw), err)}
	case w.Meta.Deleted:
		return googleapi.Thing{ID: w.ID, Deleted: true}
	}
	return googleapi.Thing{ID: w.ID, Record: connectorkit.Upsert(w.record())}
}

func (w *wirePerson) record() personRecord {
	r := personRecord{ID: w.ID, Nickname: first(w.Nicknames).Value, Note: first(w.Biographies).Value}
	if len(w.Names) > 0 {
		n := w.Names[0]
		r.FullName, r.Given, r.Family, r.Additional, r.Prefix, r.Suffix = n.Display, n.Given, n.Family, n.Middle, n.Prefix, n.Suffix
		r.Phonetic = cmp.Or(n.PhoneticFull, strings.TrimSpace(n.PhoneticGiven+" "+n.PhoneticFamily))
	}
	if len(w.Organizations) > 0 {
		r.Organization, r.Department, r.Title = w.Organizations[0].Name, w.Organizations[0].Department, w.Organizations[0].Title
	}
	r.FullName = cmp.Or(r.FullName, r.Organization, r.Nickname, first(w.Emails).Value, first(w.Phones).Value)
	plain := func(f field) entry { return entry{Value: f.Value, Type: f.Type} }
	r.Emails, r.Phones, r.URLs = entries(w.Emails, plain), entries(w.Phones, plain), entries(w.URLs, plain)
	r.Messaging = entries(w.IMs, func(f field) entry { return entry{Value: f.Username, Type: f.Protocol} })
	r.Related = entries(w.Relations, func(f field) entry { return entry{Value: f.Person, Type: f.Type} })
	r.Dates = entries(w.Events, func(f field) entry { return entry{Value: f.Date.text(), Type: f.Type} })
	r.Custom = entries(w.Custom, func(f field) entry { return entry{Value: f.Value, Type: f.Key} })
	r.Gender, r.FileAs = first(w.Genders).Value, first(w.FileAs).Value
	r.Occupations, r.Interests, r.Skills, r.SIP = entries(w.Occupations, plain), entries(w.Interests, plain),
		entries(w.Skills, plain), entries(w.SIP, plain)
	r.ExternalIDs, r.Locations, r.Locales, r.Keywords = entries(w.ExternalIDs, plain), entries(w.Locations, plain),
		entries(w.Locales, plain), entries(w.Keywords, plain)
	r.Calendars = entries(w.Calendars, func(f field) entry { return entry{Value: f.URL, Type: f.Type} })
	r.ClientData = entries(w.ClientData, func(f field) entry { return entry{Value: f.Value, Type: f.Key} })
	for _, o := range w.Organizations {
		// else the members above have all of it
		if len(w.Organizations) > 1 || o.Description+o.Location+o.Domain+o.Start.text()+o.End.text() != "" {
			r.Jobs = append(r.Jobs, job{Name: o.Name, Department: o.Department, Title: o.Title, Description: o.Description,
				Location: o.Location, Domain: o.Domain, Type: o.Type, Current: o.Current,
				Start: o.Start.text(), End: o.End.text()})
		}
	}
	r.Birthday = cmp.Or(first(w.Birthdays).Date.text(), first(w.Birthdays).Text)
	for _, a := range w.Addresses {
		r.Addresses = append(r.Addresses, address{Formatted: a.Formatted, Street: a.Street, Extended: a.Extended, POBox: a.POBox, Locality: a.City, Region: a.Region,
			Postcode: a.Postcode, Country: a.Country, Type: a.Type, Preferred: a.Meta.Primary && len(w.Addresses) > 1})
	}
	for _, m := range w.Memberships {
		if m.Group.ID != "" {
			r.Groups = append(r.Groups, m.Group.ID)
		}
	}
	for _, p := range w.Photos {
		if !p.Default {
			r.HasPhoto, r.PhotoURL = true, cmp.Or(r.PhotoURL, p.URL)
		}
	}
	for _, s := range w.Meta.Sources {
		r.UpdatedAt = max(r.UpdatedAt, s.Updated) // all are spelled alike
	}
	return r
}

func first(all []field) field {
	if len(all) == 0 {
		return field{}
	}
	return all[0]
}

// entries makes entries of fields. Where there are several, the one that Google calls primary is preferred.
func entries(all []field, read func(field) entry) []entry {
	var out []entry
	for _, f := range all {
		e := read(f)
		if e.Value = strings.TrimSpace(e.Value); e.Value == "" {
			continue
		}
		e.Preferred = f.Meta.Primary && len(all) > 1
		out = append(out, e)
	}
	return out
}
