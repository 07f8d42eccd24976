package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit/browser/internal/devtools"
)

const (
	maxCapture  = 64 << 10
	maxCaptures = 40
)

// pageOutline is a diagnostic of a page: what could be seen, and nothing of what was in it.
type pageOutline struct {
	At       string        `json:"at"`
	Label    string        `json:"label"`
	Page     string        `json:"page"` // origin and path
	Title    string        `json:"title"`
	Controls []pageControl `json:"controls"`
	// Incomplete is the reason for missing controls.
	Incomplete string `json:"incomplete,omitzero"`
}

// pageControl is an element of a page that a person can use or read. Its value is left out.
type pageControl struct {
	Role string `json:"role"`
	Name string `json:"name"`
}

var controlRoles = []string{
	"alert", "button", "checkbox", "combobox", "dialog", "heading", "link", "listbox", "menuitem", "radio",
	"searchbox", "spinbutton", "switch", "tab", "textbox",
}

// captureFolder writes outlines into one folder. Nil writes none.
type captureFolder struct {
	dir string

	mu    sync.Mutex
	count int
	files []string
}

// write leaves one outline, whole or not at all.
func (c *captureFolder) write(o pageOutline) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count >= maxCaptures {
		return nil
	}
	text, err := o.encode()
	if err != nil {
		return err
	}
	c.count++
	name := filepath.Join(c.dir, fmt.Sprintf("%02d-%s.json", c.count, fileNamePart(o.Label)))
	if err := replaceFile(name, text); err != nil {
		return err
	}
	c.files = append(c.files, name)
	return nil
}

// encode keeps to the size by leaving out controls at the end.
func (o pageOutline) encode() ([]byte, error) {
	for {
		text, err := json.Marshal(o, jsontext.WithIndent("  "))
		if err != nil {
			return nil, fmt.Errorf("encode the outline: %w", err)
		}
		if len(text) <= maxCapture || len(o.Controls) == 0 {
			return text, nil
		}
		o.Controls, o.Incomplete = o.Controls[:len(o.Controls)/2], "the page has more"
	}
}

// discard removes what was written: a sign-in that worked needs no diagnostics.
func (c *captureFolder) discard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, name := range c.files {
		errs = append(errs, os.Remove(name))
	}
	c.files = nil
	return errors.Join(errs...)
}

// fileNamePart is a label as a part of a file's name.
func fileNamePart(label string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, label)
	return word[:min(len(word), 60)]
}

// replaceFile replaces a file atomically. Only its owner can read it.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use
	}
	return err
}

// outlinePage makes the outline of a page. A page that does not answer still has a place.
func outlinePage(ctx context.Context, t *tab, at pagePlace, label string, when time.Time) pageOutline {
	o := pageOutline{At: when.UTC().Format(time.RFC3339Nano), Label: label, Page: at.address, Title: at.title,
		Controls: []pageControl{}}
	tree, err := cdp.Call(ctx, t.s, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		o.Incomplete = "the page did not answer"
		return o
	}
	for _, n := range tree.Nodes {
		role := labelText(n.Role)
		if n.Ignored || !slices.Contains(controlRoles, role) {
			continue
		}
		o.Controls = append(o.Controls, pageControl{Role: role, Name: displayText(labelText(n.Name))})
	}
	return o
}

func labelText(v *accessibility.Value) string {
	var text string
	if v == nil || devtools.Decode(v.Value, &text) != nil {
		return ""
	}
	return text
}
