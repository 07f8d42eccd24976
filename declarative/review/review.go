// Package review has the facts about a source file that an owner reads before the file is added, and the differences
// between two files. The program that reads a file and the server that shows it share these types.
package review

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// MaxFile is the size in bytes of the largest source file.
const MaxFile = 4 << 20

// SignInPage is the use of a host at which the owner signs in.
const SignInPage = "sign-in page"

// Review is what a source file would do.
type Review struct {
	Name        string       `json:"name"` // name of the connector
	DisplayName string       `json:"display_name"`
	SHA256      string       `json:"sha256"` // of the file, in hexadecimal digits
	Hosts       []SourceHost `json:"hosts"`
	// Secrets are the secret settings and the parts of a request that they go to.
	Secrets []SourceSecret `json:"secrets"`
	// Settings are the labels of the settings that are not secret.
	Settings []string         `json:"settings"`
	Streams  []SourceStream   `json:"streams"`
	Disabled []DisabledStream `json:"disabled"`
	Notes    []string         `json:"notes"` // warnings for the author
}

// SourceHost is a host that the source talks to.
type SourceHost struct {
	Name string `json:"name"` // a name in braces is a setting
	Use  string `json:"use"`  // requests or sign-in
	// Settings are the labels of the settings that decide the name.
	Settings []string `json:"settings"`
}

// SourceSecret is a secret setting.
type SourceSecret struct {
	Label  string   `json:"label"`
	Places []string `json:"places"` // such as sign-in, header or query
}

// SourceStream is a stream that runs.
type SourceStream struct {
	Name string `json:"name"`
	// POST means that it sends POST requests, which can change something at the provider.
	POST bool `json:"post"`
}

// DisabledStream is a stream that does not run.
type DisabledStream struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // place in the file
	Reason string `json:"reason"`
	Fix    string `json:"fix"`
}

// FileProblem makes the whole file unusable.
type FileProblem struct {
	Path    string `json:"path"` // place in the file
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// String returns the problem in one line.
func (p FileProblem) String() string {
	return strings.TrimSpace(strings.TrimSpace(p.Path+" "+p.Message) + ". " + p.Fix)
}

// FileReview is the result of reading a file: a review, or problems.
type FileReview struct {
	Review *Review `json:"review,omitempty"`
	// Accepted is the review of the file that the owner accepted before, if there is one.
	Accepted *Review       `json:"accepted,omitempty"`
	Problems []FileProblem `json:"problems,omitempty"`
}

// ChangeKind is what a change is about.
type ChangeKind string

// The kinds, in the order in which changes are shown.
const (
	HostKind     ChangeKind = "host"
	SecretKind   ChangeKind = "secret"
	POSTKind     ChangeKind = "post"
	SettingKind  ChangeKind = "setting"
	StreamKind   ChangeKind = "stream"
	DisabledKind ChangeKind = "disabled"
)

// SourceChange is a difference between two files.
type SourceChange struct {
	Kind  ChangeKind `json:"kind"`
	Name  string     `json:"name"`
	Added bool       `json:"added"` // false: it was removed
}

// Compare returns the differences between the file that was accepted and another one. It is empty if the files differ
// only in other parts, such as a path.
func Compare(accepted, now *Review) []SourceChange {
	changes := []SourceChange{}
	for _, part := range []struct {
		kind ChangeKind
		list func(*Review) []string
	}{
		{HostKind, (*Review).hosts}, {SecretKind, (*Review).secrets}, {POSTKind, (*Review).POST},
		{SettingKind, func(r *Review) []string { return r.Settings }}, {StreamKind, (*Review).streams},
		{DisabledKind, (*Review).disabled},
	} {
		was, is := part.list(accepted), part.list(now)
		for _, name := range is {
			if !slices.Contains(was, name) {
				changes = append(changes, SourceChange{part.kind, name, true})
			}
		}
		for _, name := range was {
			if !slices.Contains(is, name) {
				changes = append(changes, SourceChange{part.kind, name, false})
			}
		}
	}
	return changes
}

// POST returns the names of the streams that send POST requests.
func (r *Review) POST() []string {
	var names []string
	for _, s := range r.Streams {
		if s.POST {
			names = append(names, s.Name)
		}
	}
	return names
}

func (r *Review) hosts() []string {
	names := make([]string, len(r.Hosts))
	for i, h := range r.Hosts {
		names[i] = h.Name
	}
	return names
}

func (r *Review) streams() []string {
	names := make([]string, len(r.Streams))
	for i, s := range r.Streams {
		names[i] = s.Name
	}
	return names
}

func (r *Review) disabled() []string {
	names := make([]string, len(r.Disabled))
	for i, s := range r.Disabled {
		names[i] = s.Name
	}
	return names
}

func (r *Review) secrets() []string {
	var names []string
	for _, s := range r.Secrets {
		if len(s.Places) == 0 {
			names = append(names, s.Label)
		}
		for _, place := range s.Places {
			names = append(names, s.Label+" in the "+place)
		}
	}
	return names
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

// NameOf returns the name of a connector that a file name suggests, or "".
func NameOf(file string) string {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	name = strings.Trim(notInName.ReplaceAllString(name, "_"), "_")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return ""
	}
	return name[:min(len(name), 64)]
}
