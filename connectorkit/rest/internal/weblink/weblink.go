// Package weblink reads Link headers.
package weblink

import (
	"net/http"
	"strings"
)

// Link is a reference of a Link header.
type Link struct {
	URL string
	Rel string // relations, separated by spaces
}

// Links returns the references of the Link headers: <reference>; rel="next", <reference>; rel="last".
func Links(h http.Header) []Link {
	var out []Link
	for _, line := range h.Values("Link") {
		for line != "" {
			_, rest, found := strings.Cut(line, "<")
			if !found {
				break
			}
			reference, rest, closed := strings.Cut(rest, ">")
			if !closed {
				break
			}
			var parameters string
			parameters, line = untilComma(rest)
			out = append(out, Link{URL: strings.TrimSpace(reference), Rel: relationOf(parameters)})
		}
	}
	return out
}

// Next returns the reference with the relation next. It is empty if there is none.
func Next(h http.Header) string {
	for _, link := range Links(h) {
		for word := range strings.FieldsSeq(link.Rel) {
			if strings.EqualFold(word, "next") {
				return link.URL
			}
		}
	}
	return ""
}

// untilComma splits at the comma that ends one link; commas in quotes do not.
func untilComma(text string) (before, after string) {
	quoted := false
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return text[:i], text[i+1:]
			}
		}
	}
	return text, ""
}

// relationOf returns the parameter rel, which may list several relations.
func relationOf(parameters string) string {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return ""
}
