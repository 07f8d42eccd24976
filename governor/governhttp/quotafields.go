package governhttp

import (
	"net/http"
	"strings"

	"github.com/pdpp-go/pdpp/governor"
)

// readStructuredQuota parses the RateLimit field. Two drafts are in use: a list of policies,
// `"hourly";r=10;t=30`, with the quotas in RateLimit-Policy, and the older dictionary, `limit=100, remaining=10,
// reset=30`.
func readStructuredQuota(h http.Header) (quota governor.Quota) {
	items := fieldItems(h["Ratelimit"])
	if len(items) == 0 {
		return quota
	}
	if dictionary := items.dictionary(); dictionary["remaining"] != "" {
		return fieldQuota(dictionary["remaining"], dictionary["limit"], dictionary["reset"])
	}
	policies := fieldItems(h["Ratelimit-Policy"])
	for _, item := range items {
		policy := policies.params(item.name)
		if unit := policy["qu"]; unit != "" && unit != "requests" {
			continue // the policy counts bytes or another unit
		}
		reset := item.params["t"]
		if reset == "" {
			reset = policy["w"] // the whole window is never too early
		}
		quota = stricterQuota(quota, fieldQuota(item.params["r"], policy["q"], reset))
	}
	return quota
}

func fieldQuota(remaining, limit, reset string) governor.Quota {
	left, ok := readNumber(remaining)
	if !ok {
		return governor.Quota{}
	}
	most, _ := readNumber(limit)
	seconds, _ := readNumber(reset)
	return governor.Quota{
		Known:     true,
		Limit:     wholeRequests(most),
		Remaining: wholeRequests(left),
		Reset:     secondsToDuration(seconds),
	}
}

// fieldItem is one member of a structured list: a name and its parameters.
type fieldItem struct {
	name   string
	params map[string]string
}

type fieldItemList []fieldItem

func fieldItems(lines []string) (items fieldItemList) {
	for _, line := range lines {
		for _, text := range splitOutsideQuotes(line, ',') {
			parts := splitOutsideQuotes(text, ';')
			item := fieldItem{trimQuotes(parts[0]), map[string]string{}}
			for _, p := range parts[1:] {
				key, value, _ := strings.Cut(p, "=")
				item.params[strings.TrimSpace(key)] = trimQuotes(value)
			}
			items = append(items, item)
		}
	}
	return items
}

// dictionary parses each item as a key with a value.
func (l fieldItemList) dictionary() map[string]string {
	values := map[string]string{}
	for _, item := range l {
		if key, value, ok := strings.Cut(item.name, "="); ok {
			values[strings.TrimSpace(key)] = trimQuotes(value)
		}
	}
	return values
}

func (l fieldItemList) params(name string) map[string]string {
	for _, item := range l {
		if item.name == name {
			return item.params
		}
	}
	return nil
}

func trimQuotes(text string) string { return strings.Trim(strings.TrimSpace(text), `"`) }

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
