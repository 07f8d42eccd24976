package imap

import (
	"slices"
	"strings"
)

var flagNames = map[string]string{`\SEEN`: "seen", `\ANSWERED`: "replied", `\FLAGGED`: "flagged", `\DELETED`: "trashed", `\DRAFT`: "draft"}

const maxFlags = 200

// flagsOf are the flags of a message, and the keywords that programs gave it.
func flagsOf(raw []string) []string {
	var out []string
	for _, flag := range raw {
		name := flagNames[strings.ToUpper(flag)]
		if name == "" && !strings.HasPrefix(flag, `\`) {
			name = strings.ToValidUTF8(flag, "\uFFFD")
		}
		if name != "" && len(out) < maxFlags && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// labelsOf are Gmail's labels; its own begin with a backslash, which is left out.
func labelsOf(raw []string) []string {
	var out []string
	for _, label := range raw {
		name := folderName(strings.TrimPrefix(label, `\`))
		if name != "" && len(out) < maxFlags && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
