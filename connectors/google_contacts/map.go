package googlecontacts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

// personRecord is a contact as every source of contacts has it, with what Google adds.
type personRecord struct {
	ID           string              `json:"id"`
	FullName     string              `json:"full_name"`
	Given        string              `json:"given_name,omitzero"`
	Family       string              `json:"family_name,omitzero"`
	Additional   string              `json:"additional_names,omitzero"`
	Prefix       string              `json:"name_prefix,omitzero"`
	Suffix       string              `json:"name_suffix,omitzero"`
	Nickname     string              `json:"nickname,omitzero"`
	Organization string              `json:"organization,omitzero"`
	Department   string              `json:"department,omitzero"`
	Title        string              `json:"title,omitzero"`
	Emails       []labelledEntry     `json:"emails,omitempty"`
	Phones       []labelledEntry     `json:"phones,omitempty"`
	Addresses    []postalAddress     `json:"addresses,omitempty"`
	URLs         []labelledEntry     `json:"urls,omitempty"`
	Messaging    []labelledEntry     `json:"messaging,omitempty"`
	Related      []labelledEntry     `json:"related,omitempty"`
	Dates        []labelledEntry     `json:"dates,omitempty"`
	Custom       []labelledEntry     `json:"custom,omitempty"`
	Birthday     string              `json:"birthday,omitzero"`
	Note         string              `json:"note,omitzero"`
	Gender       string              `json:"gender,omitzero"`
	FileAs       string              `json:"file_as,omitzero"`
	Phonetic     string              `json:"phonetic_name,omitzero"`
	Occupations  []labelledEntry     `json:"occupations,omitempty"`
	Interests    []labelledEntry     `json:"interests,omitempty"`
	Skills       []labelledEntry     `json:"skills,omitempty"`
	Calendars    []labelledEntry     `json:"calendar_urls,omitempty"`
	SIP          []labelledEntry     `json:"sip_addresses,omitempty"`
	ExternalIDs  []labelledEntry     `json:"external_ids,omitempty"`
	Locations    []labelledEntry     `json:"locations,omitempty"`
	Locales      []labelledEntry     `json:"locales,omitempty"`
	Keywords     []labelledEntry     `json:"keywords,omitempty"`
	ClientData   []labelledEntry     `json:"client_data,omitempty"`
	Jobs         []organizationEntry `json:"organizations,omitempty"`
	PhotoURL     string              `json:"photo_url,omitzero"`
	Groups       []string            `json:"group_ids,omitempty"`
	HasPhoto     bool                `json:"has_photo"`
	UpdatedAt    string              `json:"updated_at,omitzero"`
}

// labelledEntry is one of several things of a kind.
type labelledEntry struct {
	Value     string `json:"value"`
	Type      string `json:"type,omitzero"`
	Preferred bool   `json:"preferred,omitzero"`
}

type postalAddress struct {
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

// organizationEntry is one of several organizations.
type organizationEntry struct {
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

// personField has the members that all fields of a person share. Which others are set depends on the kind of field.
type personField struct {
	Meta struct {
		Primary bool `json:"primary"`
	} `json:"metadata"`
	Type     string       `json:"type"`
	Value    string       `json:"value"`
	Username string       `json:"username"`
	Protocol string       `json:"protocol"`
	Person   string       `json:"person"`
	Key      string       `json:"key"`
	Date     *partialDate `json:"date"`
	Text     string       `json:"text"`
	URL      string       `json:"url"`
}

// partialDate is a date; a part that is not known is zero.
type partialDate struct {
	Year  int `json:"year"`
	Month int `json:"month"`
	Day   int `json:"day"`
}

// spellDate spells a date as 2026-03-05, without its year as --03-05; empty when month or day is missing.
func (d *partialDate) spellDate() string {
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
		Name        string       `json:"name"`
		Department  string       `json:"department"`
		Title       string       `json:"title"`
		Description string       `json:"jobDescription"`
		Location    string       `json:"location"`
		Domain      string       `json:"domain"`
		Type        string       `json:"type"`
		Current     bool         `json:"current"`
		Start       *partialDate `json:"startDate"`
		End         *partialDate `json:"endDate"`
	} `json:"organizations"`
	Addresses []struct {
		personField
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
	Nicknames   []personField `json:"nicknames"`
	Biographies []personField `json:"biographies"`
	Birthdays   []personField `json:"birthdays"`
	Emails      []personField `json:"emailAddresses"`
	Phones      []personField `json:"phoneNumbers"`
	URLs        []personField `json:"urls"`
	IMs         []personField `json:"imClients"`
	Relations   []personField `json:"relations"`
	Events      []personField `json:"events"`
	Custom      []personField `json:"userDefined"`
	Genders     []personField `json:"genders"`
	FileAs      []personField `json:"fileAses"`
	Occupations []personField `json:"occupations"`
	Interests   []personField `json:"interests"`
	Skills      []personField `json:"skills"`
	SIP         []personField `json:"sipAddresses"`
	ExternalIDs []personField `json:"externalIds"`
	Locations   []personField `json:"locations"`
	Locales     []personField `json:"locales"`
	Keywords    []personField `json:"miscKeywords"`
	ClientData  []personField `json:"clientData"`
	Calendars   []personField `json:"calendarUrls"`
}

func readPerson(raw jsontext.Value, groups *groupMembers) rest.Row {
	var w wirePerson
	switch err := json.Unmarshal(raw, &w); {
	case err != nil || w.ID == "":
		return rest.Unreadable(rest.Item{Raw: raw}, "resourceName", err)
	case w.Meta.Deleted:
		return rest.Row{Key: w.ID, Deleted: true}
	}
	record := w.toRecord()
	groups.addMember(record.Groups)
	return rest.Row{Key: w.ID, Record: connectorkit.Upsert(record)}
}

func (w *wirePerson) toRecord() personRecord {
	r := personRecord{ID: w.ID, Nickname: primaryField(w.Nicknames).Value, Note: primaryField(w.Biographies).Value}
	if len(w.Names) > 0 {
		n := w.Names[0]
		r.FullName, r.Given, r.Family, r.Additional, r.Prefix, r.Suffix = n.Display, n.Given, n.Family, n.Middle, n.Prefix,
			n.Suffix
		r.Phonetic = cmp.Or(n.PhoneticFull, strings.TrimSpace(n.PhoneticGiven+" "+n.PhoneticFamily))
	}
	if len(w.Organizations) > 0 {
		r.Organization, r.Department, r.Title = w.Organizations[0].Name, w.Organizations[0].Department,
			w.Organizations[0].Title
	}
	r.FullName = cmp.Or(r.FullName, r.Organization, r.Nickname, primaryField(w.Emails).Value, primaryField(w.Phones).Value)
	plain := func(f personField) labelledEntry { return labelledEntry{Value: f.Value, Type: f.Type} }
	r.Emails, r.Phones, r.URLs = labelledEntries(w.Emails, plain), labelledEntries(w.Phones, plain),
		labelledEntries(w.URLs, plain)
	r.Messaging = labelledEntries(w.IMs,
		func(f personField) labelledEntry { return labelledEntry{Value: f.Username, Type: f.Protocol} })
	r.Related = labelledEntries(w.Relations,
		func(f personField) labelledEntry { return labelledEntry{Value: f.Person, Type: f.Type} })
	r.Dates = labelledEntries(w.Events,
		func(f personField) labelledEntry { return labelledEntry{Value: f.Date.spellDate(), Type: f.Type} })
	r.Custom = labelledEntries(w.Custom,
		func(f personField) labelledEntry { return labelledEntry{Value: f.Value, Type: f.Key} })
	r.Gender, r.FileAs = primaryField(w.Genders).Value, primaryField(w.FileAs).Value
	r.Occupations, r.Interests, r.Skills, r.SIP = labelledEntries(w.Occupations, plain),
		labelledEntries(w.Interests, plain),
		labelledEntries(w.Skills, plain), labelledEntries(w.SIP, plain)
	r.ExternalIDs, r.Locations, r.Locales, r.Keywords = labelledEntries(w.ExternalIDs, plain),
		labelledEntries(w.Locations, plain),
		labelledEntries(w.Locales, plain), labelledEntries(w.Keywords, plain)
	r.Calendars = labelledEntries(w.Calendars,
		func(f personField) labelledEntry { return labelledEntry{Value: f.URL, Type: f.Type} })
	r.ClientData = labelledEntries(w.ClientData,
		func(f personField) labelledEntry { return labelledEntry{Value: f.Value, Type: f.Key} })
	for _, o := range w.Organizations {
		// else the members above have all of it
		if len(w.Organizations) > 1 || o.Description+o.Location+o.Domain+o.Start.spellDate()+o.End.spellDate() != "" {
			r.Jobs = append(r.Jobs, organizationEntry{Name: o.Name, Department: o.Department, Title: o.Title,
				Description: o.Description,
				Location:    o.Location, Domain: o.Domain, Type: o.Type, Current: o.Current,
				Start: o.Start.spellDate(), End: o.End.spellDate()})
		}
	}
	r.Birthday = cmp.Or(primaryField(w.Birthdays).Date.spellDate(), primaryField(w.Birthdays).Text)
	for _, a := range w.Addresses {
		r.Addresses = append(r.Addresses, postalAddress{Formatted: a.Formatted, Street: a.Street, Extended: a.Extended,
			POBox: a.POBox, Locality: a.City, Region: a.Region,
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

func primaryField(all []personField) personField {
	if len(all) == 0 {
		return personField{}
	}
	return all[0]
}

// labelledEntries makes entries of fields. Where there are several, the one that Google calls primary is preferred.
func labelledEntries(all []personField, read func(personField) labelledEntry) []labelledEntry {
	var out []labelledEntry
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
