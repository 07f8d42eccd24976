package declarative

import (
	"errors"
	"slices"

	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/manifest"
)

// ReviewFile returns what an owner reads before a file is added. With the folder of an installed source in dir, the
// answer contains what was accepted there.
func ReviewFile(text []byte, key, dir string) review.FileReview {
	d, err := DescribeFile(text, describe.Options{Key: key})
	if err != nil {
		return review.FileReview{Problems: problemsOf(err)}
	}
	now := reviewOf(d, text)
	answer := review.FileReview{Review: &now}
	if dir != "" {
		if a, err := readAdapter(dir); err == nil && a.Kind == AdapterKind {
			answer.Accepted = a.Accepted
		}
	}
	return answer
}

// problemsOf returns the problems of an error with their places in the file.
func problemsOf(err error) []review.FileProblem {
	var out []review.FileProblem
	var inFile document.Problems
	var inManifest manifest.Problems
	switch {
	case errors.As(err, &inFile):
		for _, p := range inFile {
			if p.Level == document.WholeFile {
				out = append(out, review.FileProblem{Path: p.Path, Message: p.Message, Fix: p.Fix})
			}
		}
	case errors.As(err, &inManifest):
		for _, p := range inManifest {
			out = append(out, review.FileProblem{Path: "metadata.pdpp: " + p.Path, Message: p.What, Fix: p.Fix})
		}
	}
	if len(out) == 0 {
		out = append(out, review.FileProblem{Message: err.Error()})
	}
	return out
}

func reviewOf(d *describe.Description, text []byte) review.Review {
	r := review.Review{Name: d.Manifest.Key(), DisplayName: d.Manifest.DisplayName, SHA256: digest(text),
		Hosts: []review.SourceHost{}, Secrets: []review.SourceSecret{}, Settings: []string{},
		Streams: []review.SourceStream{}, Disabled: []review.DisabledStream{}, Notes: append([]string{}, d.Notes...)}
	for _, h := range d.Hosts {
		r.Hosts = append(r.Hosts, review.SourceHost{Name: h.Name, Use: h.Use, Settings: labelsOf(d, h.Settings)})
	}
	settings := d.Settings
	if d.ServerSignIn != nil { // the owner signs in, and enters none of them
		settings = nil
		r.Secrets = append(r.Secrets, review.SourceSecret{Label: "Secret and tokens of your app",
			Places: []string{string(describe.InSignIn)}})
	}
	for _, s := range settings {
		switch {
		case s.Constant != "":
		case s.Secret:
			secret := review.SourceSecret{Label: s.Label, Places: []string{}}
			for _, flow := range d.Secrets {
				if flow.Setting == s.Name() {
					secret.Places = append(secret.Places, string(flow.Place))
				}
			}
			if !slices.ContainsFunc(r.Secrets, func(o review.SourceSecret) bool { return o.Label == s.Label }) {
				r.Secrets = append(r.Secrets, secret)
			}
		case !slices.Contains(r.Settings, s.Label):
			r.Settings = append(r.Settings, s.Label)
		}
	}
	post := d.POST()
	for _, s := range d.Streams {
		r.Streams = append(r.Streams, review.SourceStream{Name: s.Name, POST: slices.Contains(post, s.Name)})
	}
	for _, s := range d.Disabled {
		r.Disabled = append(r.Disabled, review.DisabledStream{Name: s.Name, Path: s.Path, Reason: s.Reason, Fix: s.Fix})
	}
	return r
}

// labelsOf returns the labels of settings.
func labelsOf(d *describe.Description, names []string) []string {
	labels := []string{}
	for _, name := range names {
		i := slices.IndexFunc(d.Settings, func(s describe.Setting) bool { return s.Path[0] == name || s.Name() == name })
		if i >= 0 {
			name = d.Settings[i].Label
		}
		labels = append(labels, name)
	}
	return labels
}
