package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestPlotIsWellFormedAndShowsEverything(t *testing.T) {
	t.Parallel()
	all := scenes()
	plot := draw(all)
	refusals := 0
	for _, s := range all {
		if len(s.refusals) == 0 || len(s.samples) == 0 {
			t.Errorf("%s: %d samples, %d refusals", s.title, len(s.samples), len(s.refusals))
		}
		refusals += len(s.refusals)
	}
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(plot)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s=%q", a.Name.Local, a.Value)
				}
				if a.Name.Local == "class" {
					count[a.Value]++
				}
			}
		}
	}
	// One of each is the legend's.
	if count["refusal"] != refusals+1 || count["pace"] != len(all)+1 || count["limit"] != len(all)+1 {
		t.Errorf("drawn: %v for %d scenes with %d refusals", count, len(all), refusals)
	}
}

func TestTableListsTheCatalogue(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run([]string{"-table", "50"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"per 1000", "penalty-told", "nginx-delay", "mean"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestFamiliesAreListed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run([]string{"-families", "50", "-random", "1", "-seed", "7"}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| growing ban", "| hours of the day", "| mean"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestLanesAreListed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run([]string{"-lanes", "300"}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\n| 0s | ") || !strings.Contains(out.String(), "\n| 3s | ") {
		t.Errorf("no lanes in\n%s", out.String())
	}
}
