package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/declarative"
	"github.com/pdpp-go/pdpp/declarative/describe"
	"github.com/pdpp-go/pdpp/declarative/document"
	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/declarative/source"
)

// readSourceFile reads a source file within the bound.
func readSourceFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if info.Size() > document.MaxFile {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, document.MaxFile>>20)
	}
	return os.ReadFile(path)
}

// reviewFile writes what a source file would do as JSON. A path of - means standard input.
func reviewFile(in io.Reader, out io.Writer, path, name, since string) error {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(in, document.MaxFile+1))
	} else {
		text, err = readSourceFile(path)
	}
	if err != nil {
		return err
	}
	if name == "" {
		name = review.NameOf(path)
	}
	return json.MarshalWrite(out, declarative.ReviewFile(text, name, since))
}

// checkSettings reads the values of variables as JSON and writes the problem with them as JSON, or {}.
func checkSettings(ctx context.Context, in io.Reader, out io.Writer, dir string) error {
	var values map[string]string
	if err := json.UnmarshalRead(in, &values); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	var problem review.FileProblem
	err := declarative.CheckSettings(ctx, dir, func(name string) string { return values[name] })
	if errors.Is(err, source.ErrNotOwnServer) {
		problem = review.FileProblem{Path: describe.OwnServerField,
			Message: "the address is in a private network, or does not begin with https://",
			Fix:     "If it is your own server, tick \"This is my own server\"; otherwise correct the address."}
	} else if err != nil {
		return err
	}
	return json.MarshalWrite(out, problem)
}

// wrapFile writes the connector folder of a source file.
func wrapFile(w io.Writer, dir, name string, args []string) error {
	if len(args) != 1 {
		return &wrongError{text: "name one source file: pdpp-connectors wrap declarative NAME FILE"}
	}
	text, err := readSourceFile(args[0])
	if err != nil {
		return &wrongError{text: err.Error()}
	}
	d, err := declarative.Wrap(dir, text, describe.Options{Key: name})
	if err != nil {
		return &wrongError{text: err.Error()}
	}
	printDescription(w, d)
	_, err = fmt.Fprintf(w, "next: move the folder %s into the folder of connectors, then: pdpp connect %s\n",
		filepath.Clean(dir), name)
	return err
}

// validateFile prints what a source file would do.
func validateFile(w io.Writer, path string) error {
	text, err := readSourceFile(path)
	if err != nil {
		return err
	}
	d, err := declarative.DescribeFile(text, describe.Options{Key: review.NameOf(path)})
	var problems document.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Fprintln(w, p)
		}
		return &wrongError{text: path + " cannot be used"}
	}
	if err != nil {
		return &wrongError{text: err.Error()}
	}
	printDescription(w, d)
	for _, note := range d.Notes {
		fmt.Fprintln(w, "warning:", note)
	}
	if len(d.Streams) == 0 {
		return &wrongError{text: "no stream of " + path + " can run"}
	}
	return nil
}

// printDescription prints streams, hosts, settings and what an owner must know before consent.
func printDescription(w io.Writer, d *describe.Description) {
	fmt.Fprintf(w, "%s: %d streams run, %d do not\n", d.Manifest.Key(), len(d.Streams), len(d.Disabled))
	for _, s := range d.Streams {
		fmt.Fprintf(w, "  runs      %s: key %s", s.ID, strings.Join(s.Key, ", "))
		if len(s.Parents) > 0 {
			fmt.Fprintf(w, ", for each of %s", strings.Join(s.Parents, ", "))
		}
		fmt.Fprintln(w)
	}
	for _, s := range d.Disabled {
		fmt.Fprintf(w, "  does not  %s: %s. %s\n", s.ID, s.Reason, s.Fix)
	}
	for _, h := range d.Hosts {
		fmt.Fprintf(w, "  reaches   %s for %s\n", h.Name, h.Use)
	}
	for _, s := range d.Settings {
		kind := s.Type
		if s.Secret {
			kind = "secret"
		}
		if s.Constant == "" {
			fmt.Fprintf(w, "  asks for  %s (%s): %s\n", s.Name(), kind, s.Env)
		}
	}
	for _, c := range describe.Choices(d.Settings) {
		if len(c.Options) > 1 {
			fmt.Fprintf(w, "  asks for  %s (one of %s): %s\n", c.Name(), strings.Join(c.Options, ", "), c.Env)
		}
	}
	if post := d.POST(); len(post) > 0 {
		fmt.Fprintf(w, "  sends POST requests, which can change something at the provider: %s\n", strings.Join(post, ", "))
	}
}
