package export

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// cards writes contacts as vCard 3.0, which every address book reads.
type cards struct{ out contentLines }

func newCards(to io.Writer, _ []api.Stream) (Writer, error) { return &cards{contentLines{to: to}}, nil }

type cardValue struct {
	Value     string   `json:"value"`
	Types     []string `json:"types"`
	Preferred bool     `json:"preferred"`
}

type cardAddress struct {
	Street     string   `json:"street"`
	Extended   string   `json:"extended"`
	Locality   string   `json:"locality"`
	Region     string   `json:"region"`
	Country    string   `json:"country"`
	POBox      string   `json:"po_box"`
	PostalCode string   `json:"postal_code"`
	Types      []string `json:"types"`
}

func (c *cards) Write(s *api.Stream, r *Record) error {
	name := singleLine(cmp.Or(r.text("full_name"), r.text("nickname"), r.text("organization"), r.Key))
	c.out.line("BEGIN", "VCARD")
	c.out.line("VERSION", "3.0")
	c.out.line("UID", escapeValue(cmp.Or(r.text("uid"), r.Key+"@"+r.ConnectionID)))
	c.out.line("FN", escapeValue(name))
	c.out.raw("N:" + structured(r.text("family_name"), r.text("given_name"), r.text("additional_names"),
		r.text("name_prefix"), r.text("name_suffix")))
	c.out.line("NICKNAME", escapeValue(r.text("nickname")))
	if r.text("organization") != "" {
		c.out.line("ORG", structured(r.text("organization"), r.text("department")))
	}
	c.out.line("TITLE", escapeValue(r.text("title")))
	c.out.line("ROLE", escapeValue(r.text("role")))
	for _, part := range [][2]string{{"EMAIL", "emails"}, {"TEL", "phones"}, {"URL", "urls"}} {
		for _, v := range objects[cardValue](r, part[1]) {
			c.out.line(part[0]+cardTypes(v.Types, v.Preferred), escapeValue(v.Value))
		}
	}
	for _, a := range objects[cardAddress](r, "addresses") {
		c.out.line("ADR"+cardTypes(a.Types, false),
			structured(a.POBox, a.Extended, a.Street, a.Locality, a.Region, a.PostalCode, a.Country))
	}
	if day, err := time.Parse(time.DateOnly, r.text("birthday")); err == nil {
		c.out.line("BDAY", day.Format(time.DateOnly))
	}
	c.out.line("CATEGORIES", strings.Join(escapeAll(r.list("categories")), ","))
	c.out.line("NOTE", escapeValue(r.body(s)))
	c.out.line("REV", r.ChangedAt.UTC().Format(calendarInstant))
	c.out.line("END", "VCARD")
	return c.out.err
}

func (c *cards) Close() error { return c.out.err }

func cardTypes(types []string, preferred bool) (text string) {
	if preferred {
		types = append([]string{"pref"}, types...)
	}
	for _, t := range types {
		if t = plainWord(t); t != "" {
			text += ";TYPE=" + strings.ToUpper(t)
		}
	}
	return text
}

func structured(parts ...string) string { return strings.Join(escapeAll(parts), ";") }

func escapeAll(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = escapeValue(p)
	}
	return out
}
