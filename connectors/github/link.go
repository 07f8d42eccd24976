package github

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// next is the target of the next page. Its path is GitHub's to choose, but its
// host is not: the token goes nowhere else.
func (a *api) next(h http.Header) (string, error) {
	reference := nextLink(h)
	if reference == "" {
		return "", nil
	}
	to, err := url.Parse(reference)
	if err != nil || to.Scheme != a.root.Scheme || to.Host != a.root.Host || to.User != nil {
		return "", connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	path, below := strings.CutPrefix(to.EscapedPath(), a.root.EscapedPath()+"/")
	if !below || path == "" || strings.Contains(path, "..") {
		return "", connectorkit.Fail(connectorkit.Malformed, errAway)
	}
	if to.RawQuery != "" {
		path += "?" + to.RawQuery
	}
	return path, nil
}

// nextLink finds the reference with the relation next in the Link headers:
// <reference>; rel="next", <reference>; rel="last". Empty when there is none.
func nextLink(h http.Header) string {
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
			if relates(parameters, "next") {
				return strings.TrimSpace(reference)
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

// relates reports whether parameters name the relation; rel may list several.
func relates(parameters, relation string) bool {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for word := range strings.FieldsSeq(strings.Trim(strings.TrimSpace(value), `"`)) {
			if strings.EqualFold(word, relation) {
				return true
			}
		}
	}
	return false
}
