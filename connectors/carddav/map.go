package carddav

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/contentline"
	"github.com/pdpp-go/pdpp/connectorkit/dav"
)

type bookRecord struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitzero"`
	Description string `json:"description,omitzero"`
}

func addressBookRecord(c dav.Collection) any {
	return bookRecord{ID: c.Path, Name: c.Name, Description: c.Description}
}

type contactRecord struct {
	ID            string          `json:"id"`
	AddressBookID string          `json:"address_book_id"`
	UID           string          `json:"uid"`
	Kind          string          `json:"kind"`
	FullName      string          `json:"full_name"`
	Given         string          `json:"given_name,omitzero"`
	Family        string          `json:"family_name,omitzero"`
	Additional    string          `json:"additional_names,omitzero"`
	Prefix        string          `json:"name_prefix,omitzero"`
	Suffix        string          `json:"name_suffix,omitzero"`
	Nickname      string          `json:"nickname,omitzero"`
	Organization  string          `json:"organization,omitzero"`
	Department    string          `json:"department,omitzero"`
	Title         string          `json:"title,omitzero"`
	Role          string          `json:"role,omitzero"`
	Emails        []labelledEntry `json:"emails,omitempty"`
	Phones        []labelledEntry `json:"phones,omitempty"`
	Addresses     []postalAddress `json:"addresses,omitempty"`
	URLs          []labelledEntry `json:"urls,omitempty"`
	Messaging     []labelledEntry `json:"messaging,omitempty"`
	Related       []labelledEntry `json:"related,omitempty"`
	Birthday      string          `json:"birthday,omitzero"`
	Anniversary   string          `json:"anniversary,omitzero"`
	Note          string          `json:"note,omitzero"`
	Categories    []string        `json:"categories,omitempty"`
	Members       []string        `json:"member_uids,omitempty"`
	HasPhoto      bool            `json:"has_photo"`
	UpdatedAt     string          `json:"updated_at,omitzero"`
}

// labelledEntry is one of several ways to reach a contact.
type labelledEntry struct {
	Value     string   `json:"value"`
	Types     []string `json:"types,omitempty"`
	Label     string   `json:"label,omitzero"`
	Preferred bool     `json:"preferred,omitzero"`
}

type postalAddress struct {
	Street   string   `json:"street,omitzero"`
	Extended string   `json:"extended,omitzero"`
	POBox    string   `json:"po_box,omitzero"`
	Locality string   `json:"locality,omitzero"`
	Region   string   `json:"region,omitzero"`
	Postcode string   `json:"postal_code,omitzero"`
	Country  string   `json:"country,omitzero"`
	Types    []string `json:"types,omitempty"`
	Label    string   `json:"label,omitzero"`
}

// contactsFromObject maps the cards of an object; it is a card, or nothing of ours.
func contactsFromObject(c dav.Collection, o dav.Object) ([]dav.ObjectRecord, bool) {
	var things []dav.ObjectRecord
	once := map[string]int{}
	for _, card := range contentline.Parse(o.Text) {
		if card.Name != "VCARD" {
			continue
		}
		r := contactFromCard(card)
		if r.UID == "" {
			r.UID = dav.RecordKey(o.Path)
		}
		r.AddressBookID = c.Path
		parts := []string{c.Path, r.UID}
		if once[r.UID]++; once[r.UID] > 1 {
			parts = append(parts, strconv.Itoa(once[r.UID]))
		}
		r.ID = dav.RecordKey(parts...)
		things = append(things, dav.ObjectRecord{Key: r.ID, Data: r})
	}
	return things, len(things) > 0
}

func contactFromCard(card *contentline.Component) contactRecord {
	labels := map[string]string{} // Apple puts what an entry is called on a line of its own
	for _, p := range card.All("X-ABLABEL") {
		label := strings.TrimSuffix(strings.TrimPrefix(p.Text(), "_$!<"), ">!$_")
		labels[strings.ToLower(p.Group)] = label
	}
	name, org := partAccessor(card.Get("N").Fields()), partAccessor(card.Get("ORG").Fields())
	r := contactRecord{
		UID: strings.TrimPrefix(strings.TrimSpace(card.Text("UID")), "urn:uuid:"), Kind: contactKind(card),
		Family: name(0), Given: name(1), Additional: name(2), Prefix: name(3), Suffix: name(4),
		Nickname: card.Text("NICKNAME"), Organization: org(0), Department: org(1), Title: card.Text("TITLE"),
		Role:   card.Text("ROLE"),
		Emails: labelledEntries(card, labels, "EMAIL"), Phones: labelledEntries(card, labels, "TEL"),
		URLs:      labelledEntries(card, labels, "URL"),
		Messaging: labelledEntries(card, labels, "IMPP", "X-SOCIALPROFILE", "X-JABBER", "X-AIM", "X-SKYPE"),
		Related:   labelledEntries(card, labels, "RELATED", "X-ABRELATEDNAMES"),
		Birthday:  spellDate(card.Get("BDAY")), Anniversary: spellDate(card.Get("ANNIVERSARY")), Note: card.Text("NOTE"),
		HasPhoto: card.Get("PHOTO").Value != "", UpdatedAt: revisionTime(card.Get("REV").Value),
	}
	r.FullName = firstNonEmpty(card.Text("FN"),
		strings.Join(strings.Fields(strings.Join([]string{r.Prefix, r.Given, r.Additional, r.Family, r.Suffix}, " ")), " "),
		r.Organization)
	for _, p := range card.All("ADR") {
		part := partAccessor(p.Fields())
		a := postalAddress{
			POBox: part(0), Extended: part(1), Street: part(2), Locality: part(3), Region: part(4), Postcode: part(5),
			Country: part(6),
			Types:   p.Types(), Label: labels[strings.ToLower(p.Group)],
		}
		r.Addresses = append(r.Addresses, a)
	}
	for _, p := range card.All("CATEGORIES") {
		for _, name := range p.List() {
			if name = strings.TrimSpace(name); name != "" {
				r.Categories = append(r.Categories, name)
			}
		}
	}
	for _, p := range append(card.All("MEMBER"), card.All("X-ADDRESSBOOKSERVER-MEMBER")...) {
		r.Members = append(r.Members, strings.TrimPrefix(p.Text(), "urn:uuid:"))
	}
	return r
}

func contactKind(card *contentline.Component) string {
	k := strings.ToLower(firstNonEmpty(card.Text("KIND"), card.Text("X-ADDRESSBOOKSERVER-KIND")))
	switch {
	case k != "":
		return k
	case strings.EqualFold(card.Text("X-ABSHOWAS"), "COMPANY"):
		return "org"
	}
	return "individual"
}

func labelledEntries(card *contentline.Component, labels map[string]string, names ...string) []labelledEntry {
	var out []labelledEntry
	for _, p := range card.Properties {
		value := strings.TrimSpace(p.Text())
		if !slices.Contains(names, p.Name) || value == "" {
			continue
		}
		for _, scheme := range []string{"tel:", "mailto:"} {
			if len(value) > len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
				value = value[len(scheme):]
			}
		}
		e := labelledEntry{Value: value, Types: p.Types(), Label: labels[strings.ToLower(p.Group)],
			Preferred: p.Param("PREF") == "1"}
		if p.Group == "" {
			e.Label = ""
		}
		for _, q := range p.Params {
			e.Preferred = e.Preferred || q.Name == "TYPE" && strings.Contains(strings.ToLower(q.Value), "pref")
		}
		out = append(out, e)
	}
	return out
}

// spellDate formats a date as 2026-03-05, without its year as --03-05; other values stay unchanged.
func spellDate(p contentline.Property) string {
	text := strings.TrimSpace(p.Text())
	for _, layout := range []string{"20060102", time.DateOnly, "20060102T150405Z", time.RFC3339} {
		at, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if omitted := p.Param("X-APPLE-OMIT-YEAR"); omitted != "" && omitted == strconv.Itoa(at.Year()) {
			return at.Format("--01-02")
		}
		return at.Format(time.DateOnly)
	}
	if len(text) == 6 && strings.HasPrefix(text, "--") {
		return text[:4] + "-" + text[4:]
	}
	return text
}

// revisionTime reads when a card was last changed; empty when that cannot be read.
func revisionTime(text string) string {
	for _, layout := range []string{"20060102T150405Z", "20060102T150405", time.RFC3339Nano, "2006-01-02T15:04:05",
		"20060102T150405Z0700", time.DateOnly, "20060102"} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return at.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// partAccessor returns a function that returns a part of a value by its index.
func partAccessor(parts []string) func(int) string {
	return func(i int) string {
		if i >= len(parts) {
			return ""
		}
		return strings.TrimSpace(parts[i])
	}
}

func firstNonEmpty(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
