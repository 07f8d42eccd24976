package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// result is one fault and what became of it.
type result struct {
	fault
	Room    string
	Outcome outcome
	By      string `json:",omitempty"` // the test that noticed it
	Reason  string `json:",omitempty"` // why its survival is accepted
}

// report is what a run of the tool found.
type report struct {
	Seed       string
	PerPackage int
	Took       string
	Results    []result
}

type tally struct{ killed, survived, accepted, not int }

func (t tally) rate() string {
	all := t.killed + t.survived + t.accepted
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(t.killed)/float64(all))
}

func (r report) print(w io.Writer) {
	var rooms []string
	byRoom := map[string]*tally{}
	sum := &tally{}
	for _, x := range r.Results {
		if byRoom[x.Room] == nil {
			byRoom[x.Room] = &tally{}
			rooms = append(rooms, x.Room)
		}
		for _, t := range []*tally{byRoom[x.Room], sum} {
			switch {
			case x.Outcome == notCompiled:
				t.not++
			case x.Outcome == killed:
				t.killed++
			case x.Reason != "":
				t.accepted++
			default:
				t.survived++
			}
		}
	}
	fmt.Fprintf(w, "%-12s %7s %9s %9s %13s %10s\n", "package", "killed", "survived", "accepted", "not compiled",
		"kill rate")
	byRoom["all"] = sum
	for _, name := range append(rooms, "all") {
		t := byRoom[name]
		fmt.Fprintf(w, "%-12s %7d %9d %9d %13d %10s\n", name, t.killed, t.survived, t.accepted, t.not, t.rate())
	}
	fmt.Fprintf(w, "seed %s, %d per package, %s\n", r.Seed, r.PerPackage, r.Took)
	for _, x := range r.Results {
		if x.Outcome == survived || x.Outcome == unreached {
			reason := x.Reason
			if reason == "" {
				reason = "no reason given"
			}
			fmt.Fprintf(w, "%s  %s  %s\n  %s\n", x.Outcome, x.ID, x.fault, reason)
		}
	}
}

func (r report) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// readAccepted reads the survivors that are accepted: id, place and change for the
// reader, reason.
func readAccepted(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[string]string{}
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 4 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("%s:%d: want id, place, change and reason, each after a tab", path, n)
		}
		out[fields[0]] = fields[3]
	}
	return out, in.Err()
}
