package notes

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

const (
	maxTagsPerNote  = 200
	maxLinksPerNote = 500
	maxLinkBytes    = 1000
)

// noteMarkup holds the tags, links and tasks of a text.
type noteMarkup struct {
	title       string
	tags, links []string
}

// scanMarkup reads a text once. It ignores code.
func scanMarkup(text string) (m noteMarkup) {
	seenTag, seenLink := map[string]bool{}, map[string]bool{}
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		if mark := codeFenceOf(bare); mark != "" &&
			(fence == "" || strings.HasPrefix(mark, fence) && strings.Trim(bare, fence[:1]) == "") {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		if rest, ok := strings.CutPrefix(bare, "# "); ok && m.title == "" {
			m.title = strings.TrimSpace(strings.TrimRight(rest, "# "))
		}
		line = withoutCode(line)
		for _, tag := range tagsInLine(line) {
			if len(m.tags) < maxTagsPerNote && !seenTag[tag] {
				seenTag[tag] = true
				m.tags = append(m.tags, tag)
			}
		}
		for _, link := range linksInLine(line) {
			if len(m.links) < maxLinksPerNote && !seenLink[link] {
				seenLink[link] = true
				m.links = append(m.links, link)
			}
		}
	}
	return m
}

// codeFenceOf is the mark that begins or ends a block of code.
func codeFenceOf(line string) string {
	for _, c := range "`~" {
		mark := string(c)
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 && (c == '~' || !strings.Contains(line[n:], "`")) {
			return strings.Repeat(mark, n)
		}
	}
	return ""
}

// withoutCode blanks the text between backticks.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	if len(parts) < 3 {
		return line
	}
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = " "
	}
	return strings.Join(parts, " ")
}

// tagsInLine returns words that begin with a number sign, except headings, numbers and parts of words.
func tagsInLine(line string) (out []string) {
	for at := 0; ; {
		i := strings.IndexByte(line[at:], '#')
		if i < 0 {
			return out
		}
		i += at
		at = i + 1
		if before := strings.TrimRightFunc(line[:i], unicode.IsSpace); i > 0 && before == line[:i] &&
			!strings.HasSuffix(before, "(") {
			continue
		}
		end := strings.IndexFunc(line[at:], func(r rune) bool {
			return !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '/' || r == '-' || r == '_')
		})
		if end < 0 {
			end = len(line) - at
		}
		tag := strings.Trim(line[at:at+end], "/-")
		if tag != "" && len(tag) <= 100 && strings.ContainsFunc(tag, unicode.IsLetter) {
			out = append(out, tag)
		}
		at += end
	}
}

// linksInLine are the targets of links: [[note#part|shown]] and [shown](target).
func linksInLine(line string) (out []string) {
	add := func(target string) {
		if target = strings.TrimSpace(target); target != "" && len(target) <= maxLinkBytes &&
			!strings.HasPrefix(target, "#") {
			out = append(out, target)
		}
	}
	for rest := line; ; {
		i := strings.Index(rest, "[[")
		if i < 0 {
			break
		}
		target, after, ok := strings.Cut(rest[i+2:], "]]")
		if !ok {
			break
		}
		target, _, _ = strings.Cut(target, "|")
		target, _, _ = strings.Cut(target, "#")
		add(target)
		rest = after
	}
	for rest := line; ; {
		i := strings.Index(rest, "](")
		if i < 0 {
			return out
		}
		rest = rest[i+2:]
		end := strings.IndexAny(rest, ") \t\n")
		if inner, ok := strings.CutPrefix(rest, "<"); ok {
			rest = inner
			end = strings.IndexByte(rest, '>')
		}
		if end < 0 {
			return out
		}
		add(rest[:end])
		rest = rest[end:]
	}
}

// mergeTags are those of the head and those of the text, each once.
func mergeTags(head map[string]any, inline []string) []string {
	var all []string
	for _, name := range []string{"tags", "tag"} {
		all = append(all, headerList(head[name], maxTagsPerNote)...)
	}
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], "#")
	}
	for _, tag := range inline {
		if !slices.Contains(all, tag) {
			all = append(all, tag)
		}
	}
	all = slices.DeleteFunc(all, func(tag string) bool { return tag == "" })
	return all[:min(len(all), maxTagsPerNote)]
}

// headerList returns the values of a front matter member: a list, or words separated by commas.
func headerList(v any, limit int) (out []string) {
	var parts []string
	switch v := v.(type) {
	case string:
		parts = strings.Split(v, ",")
	case []any:
		for _, one := range v {
			switch one.(type) {
			case map[string]any, []any, nil:
			default:
				parts = append(parts, fmt.Sprint(one))
			}
		}
	}
	for _, part := range parts {
		if part = localfile.ShortText(strings.TrimSpace(part), 200); part != "" && len(out) < limit &&
			!slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}
