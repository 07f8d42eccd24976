package imessage

import (
	"maps"
	"slices"
	"strings"
)

// messageSummary is what Messages notes of a message that was changed after it was sent.
type messageSummary struct {
	text  string // of all parts, as they were edited last
	taken bool   // a part was taken back
}

// readSummary reads it from a property list: under ec the versions of each part, each with
// its body t, and under rp the parts that were taken back.
func readSummary(data []byte) messageSummary {
	var s messageSummary
	if len(data) == 0 {
		return s
	}
	list, err := parsePlist(data)
	if err != nil {
		return s
	}
	top, _ := list.(map[string]any)
	parts, _ := top["ec"].(map[string]any)
	var texts []string
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		versions, _ := parts[part].([]any)
		if len(versions) == 0 {
			continue
		}
		last, _ := versions[len(versions)-1].(map[string]any)
		body, _ := last["t"].([]byte)
		if text, err := attributedText(body); err == nil {
			texts = append(texts, text)
		}
	}
	s.text = strings.Join(texts, "\n")
	taken, _ := top["rp"].([]any)
	s.taken = len(taken) > 0
	return s
}
