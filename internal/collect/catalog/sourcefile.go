package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/manifest/folder"
)

// sourceFile is the file in the folder of a declared source.
const sourceFile = "source.yaml"

// SourceFileError means that a source file cannot be added.
type SourceFileError struct {
	Name     string // of the connector
	Problems []review.FileProblem
}

func (e *SourceFileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func refuseSource(name, what, fix string) *SourceFileError {
	return &SourceFileError{name, []review.FileProblem{{Message: what, Fix: fix}}}
}

// SourceFileText returns the file of an installed source as it is now.
func (c Catalog) SourceFileText(ctx context.Context, name string) ([]byte, error) {
	dir, err := c.sourceFolder(ctx, name)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, fmt.Errorf("%w: %s is not a source that was added from a file", ErrUnknownConnector, name)
	}
	text, err := folder.ReadLimited(dir, sourceFile, review.MaxFile)
	if err != nil {
		return nil, refuseSource(name, "the file of the source "+name+" cannot be read",
			"Add the source again from its file.")
	}
	return text, nil
}

// ReviewSourceFile returns what a source file would do, and what was accepted before under the same name. It stores
// nothing. The error is a *SourceFileError if the file cannot be added.
func (c Catalog) ReviewSourceFile(ctx context.Context, name string, text []byte) (review.FileReview, error) {
	if c.Host == "" {
		return review.FileReview{}, refuseSource(name, "source files need the program pdpp-connectors, which is not here",
			"Install it beside pdpp.")
	}
	if len(text) > review.MaxFile {
		return review.FileReview{}, refuseSource(name, fmt.Sprintf("the file is larger than %d MiB", review.MaxFile>>20),
			"Choose a source file.")
	}
	dir, err := c.sourceFolder(ctx, name)
	if err != nil {
		return review.FileReview{}, err
	}
	output, err := start(ctx, c.Host, bytes.NewReader(text), "validate", "-", "--json", "--name="+name, "--since="+dir)
	if err != nil {
		return review.FileReview{}, err
	}
	var answer review.FileReview
	if err := json.Unmarshal(output, &answer); err != nil {
		return answer, fmt.Errorf("read the review of the source file: %w", err)
	}
	switch {
	case answer.Review == nil:
		return answer, &SourceFileError{name, answer.Problems}
	case len(answer.Review.Streams) == 0:
		problems := []review.FileProblem{{Message: "nothing in the file can be collected",
			Fix: "Each stream needs a part that cannot be used:"}}
		for _, s := range answer.Review.Disabled {
			problems = append(problems, review.FileProblem{Path: s.Path, Message: s.Name + ": it " + s.Reason, Fix: s.Fix})
		}
		return answer, &SourceFileError{name, problems}
	}
	if dir != "" && answer.Accepted == nil {
		answer.Accepted = &review.Review{Name: name} // everything counts as new
	}
	return answer, nil
}

// sourceFolder returns the folder of an installed source of that name, or "". The error is a *SourceFileError if
// another connector has the name.
func (c Catalog) sourceFolder(ctx context.Context, name string) (string, error) {
	if !connectorName.MatchString(name) {
		return "", refuseSource(name, fmt.Sprintf("%q is not a name for a source", name),
			"Use lower-case letters, digits and underscores, beginning with a letter.")
	}
	if isServerVariable((&manifest.Manifest{ConnectorKey: name}).EnvPrefix() + "_") {
		return "", refuseSource(name, "the name "+name+" belongs to PDPP itself", "Choose another name.")
	}
	builtins, err := c.builtins(ctx)
	if err != nil {
		return "", err
	}
	if slices.Contains(builtins, name) {
		return "", refuseSource(name, "the name "+name+" belongs to a built-in source", "Choose another name.")
	}
	dirs, err := c.folders()
	if err != nil {
		return "", err
	}
	dir := folderOf(dirs, name)
	if dir != "" && !isSourceFolder(dir) {
		return "", refuseSource(name, "the name "+name+" belongs to a connector that is not from a source file",
			"Choose another name.")
	}
	return dir, nil
}

// isSourceFolder reports whether a folder has the adapter of a source file.
func isSourceFolder(dir string) bool {
	var a struct {
		Kind string `json:"kind"`
	}
	body, err := folder.ReadFile(dir, folder.Adapter)
	return err == nil && json.Unmarshal(body, &a) == nil && a.Kind == kindDeclarative
}

// SourceFiles returns the names of the installed sources that were added from a file, whether or not they can be used.
func (c Catalog) SourceFiles() ([]string, error) {
	dirs, err := c.folders()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, dir := range dirs {
		if isSourceFolder(dir) {
			names = append(names, folder.Name(dir))
		}
	}
	return names, nil
}

// InstallSourceFile adds a source file that was reviewed, or replaces the one of that name. If it is interrupted while
// it replaces files, the source does not run until the file is accepted again.
func (c Catalog) InstallSourceFile(ctx context.Context, name string, text []byte) (found Connector, err error) {
	dir, err := c.sourceFolder(ctx, name)
	if err != nil {
		return found, err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return found, fmt.Errorf("make the folder of connectors: %w", err)
	}
	stage, err := os.MkdirTemp(c.Dir, ".adding-")
	if err != nil {
		return found, fmt.Errorf("make a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(stage)) }()
	file, made := filepath.Join(stage, sourceFile), filepath.Join(stage, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return found, fmt.Errorf("write the source file: %w", err)
	}
	if _, err := start(ctx, c.Host, nil, "wrap", kindDeclarative, name, file, "--dir="+made); err != nil {
		return found, err
	}
	if dir == "" {
		if err := os.Rename(made, filepath.Join(c.Dir, name)); err != nil {
			return found, fmt.Errorf("put the source into the folder of connectors: %w", err)
		}
		return c.Find(ctx, name)
	}
	for _, part := range []string{sourceFile, folder.Manifest, folder.Adapter} {
		if err := os.Rename(filepath.Join(made, part), filepath.Join(dir, part)); err != nil {
			return found, fmt.Errorf("replace %s: %w", part, err)
		}
	}
	return c.Find(ctx, name)
}

// RemoveSourceFile deletes an installed source that was added from a file.
func (c Catalog) RemoveSourceFile(ctx context.Context, name string) error {
	dir, err := c.sourceFolder(ctx, name)
	if err != nil {
		return err
	}
	if dir == "" {
		return fmt.Errorf("%w: %s is not a source that was added from a file", ErrUnknownConnector, name)
	}
	gone, err := os.MkdirTemp(c.Dir, ".removing-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	if err := os.Rename(dir, filepath.Join(gone, name)); err != nil {
		return errors.Join(fmt.Errorf("remove the source: %w", err), os.Remove(gone))
	}
	return os.RemoveAll(gone)
}

// CheckSettings returns what is wrong with the settings of a new connection, or nil. Only a source from a file has
// something to check. values are the variables that the connector would receive.
func (c Connector) CheckSettings(ctx context.Context, values map[string]string) (*review.FileProblem, error) {
	if !c.Declared {
		return nil, nil
	}
	input, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encode the settings: %w", err)
	}
	output, err := start(ctx, c.Path, bytes.NewReader(input), "adapt", c.Dir, "--check-settings")
	if err != nil {
		return nil, nil // a run reports the problem
	}
	var problem review.FileProblem
	if err := json.Unmarshal(output, &problem); err != nil || problem.Message == "" {
		return nil, nil // as above
	}
	return &problem, nil
}
