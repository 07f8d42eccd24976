package imap

import (
	"slices"
	"strings"
)

var systemFlagNames = map[string]string{`\SEEN`: "seen", `\ANSWERED`: "replied", `\FLAGGED`: "flagged",
	`\DELETED`: "trashed",
	`\DRAFT`:   "draft"}

const maxMessageFlags = 200

// messageFlags returns the flags of a message, including keywords of mail programs.
func messageFlags(raw []string) []string {
	var out []string
	for _, flag := range raw {
		name := systemFlagNames[strings.ToUpper(flag)]
		if name == "" && !strings.HasPrefix(flag, `\`) {
			name = strings.ToValidUTF8(flag, "\uFFFD")
		}
		if name != "" && len(out) < maxMessageFlags && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// gmailLabels are Gmail's labels; its own begin with a backslash, which is left out.
func gmailLabels(raw []string) []string {
	var out []string
	for _, label := range raw {
		name := folderName(strings.TrimPrefix(label, `\`))
		if name != "" && len(out) < maxMessageFlags && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
