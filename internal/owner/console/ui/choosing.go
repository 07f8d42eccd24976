package ui

import (
	"slices"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// ViewMark begins the name of the input that chooses the view of a stream.
const ViewMark = "view:"

// FieldNames lists fields in words.
func FieldNames(fields []string) string {
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = text.Name(f)
	}
	return text.List(words)
}

// ProfileWords returns what a profile selects.
func ProfileWords(p api.ProfileLabel) string {
	words := make([]string, len(p.Streams))
	for i, s := range p.Streams {
		words[i] = text.Name(s.Stream)
		if s.View != "" {
			words[i] += " (" + text.Name(s.View) + ")"
		}
	}
	return text.List(words)
}

// Declares reports whether a connector declares the profile.
func Declares(c api.Connector, profile string) bool {
	return slices.ContainsFunc(c.Profiles, func(p api.ProfileLabel) bool { return p.ID == profile })
}
