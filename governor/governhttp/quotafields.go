package governhttp

import (
	"net/http"
	"strings"

	"pdpp/governor"
)

// readFields reads the RateLimit field, of which two drafts are in use: a list
// of policies, `"hourly";r=10;t=30`, with the quotas in RateLimit-Policy, and the
// older dictionary, `limit=100, remaining=10, reset=30`.
func readFields(h http.Header) (quota governor.Quota) {
	items := fieldItems(h["Ratelimit"])
	if len(items) == 0 {
		return quota
	}
	if dictionary := items.dictionary(); dictionary["remaining"] != "" {
		return fieldQuota(dictionary["remaining"], dictionary["limit"], dictionary["reset"])
	}
	policies := fieldItems(h["Ratelimit-Policy"])
	for _, item := range items {
		policy := policies.named(item.name)
		if unit := policy["qu"]; unit != "" && unit != "requests" {
			continue // of bytes or of something else that a request does not count
		}
		reset := item.params["t"]
		if reset == "" {
			reset = policy["w"] // the whole window: never too early
		}
		quota = binding(quota, fieldQuota(item.params["r"], policy["q"], reset))
	}
	return quota
}

func fieldQuota(remaining, limit, reset string) governor.Quota {
	left, ok := number(remaining)
	if !ok {
		return governor.Quota{}
	}
	most, _ := number(limit)
	seconds, _ := number(reset)
	return governor.Quota{Known: true, Limit: whole(most), Remaining: whole(left), Reset: span(seconds)}
}

// fieldItem is one member of a structured list: a name and its parameters.
type fieldItem struct {
	name   string
	params map[string]string
}

type fieldList []fieldItem

func fieldItems(lines []string) (items fieldList) {
	for _, line := range lines {
		for _, text := range splitOutsideQuotes(line, ',') {
			parts := splitOutsideQuotes(text, ';')
			item := fieldItem{unquoted(parts[0]), map[string]string{}}
			for _, p := range parts[1:] {
				key, value, _ := strings.Cut(p, "=")
				item.params[strings.TrimSpace(key)] = unquoted(value)
			}
			items = append(items, item)
		}
	}
	return items
}

// dictionary reads each item as a key with a value.
func (l fieldList) dictionary() map[string]string {
	values := map[string]string{}
	for _, item := range l {
		if key, value, ok := strings.Cut(item.name, "="); ok {
			values[strings.TrimSpace(key)] = unquoted(value)
		}
	}
	return values
}

func (l fieldList) named(name string) map[string]string {
	for _, item := range l {
		if item.name == name {
			return item.params
		}
	}
	return nil
}

func unquoted(text string) string { return strings.Trim(strings.TrimSpace(text), `"`) }

func splitOutsideQuotes(text string, by byte) (parts []string) {
	quoted, from := false, 0
	for i := range len(text) {
		switch text[i] {
		case '"':
			quoted = !quoted
		case by:
			if !quoted {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}
