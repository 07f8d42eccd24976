package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/pdpp-go/pdpp/declarative/review"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/service/faults"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
)

// mostProblems is how many problems of a source file an error lists.
const mostProblems = 20

// ReviewSourceFile returns what a source file would do.
func (s *Service) ReviewSourceFile(ctx context.Context, f api.SourceFile) (api.SourceReview, error) {
	name := manifest.CanonicalKey(f.Name)
	body, err := s.sourceFileText(ctx, name, f)
	if err != nil {
		return api.SourceReview{}, err
	}
	return s.reviewSource(ctx, name, body)
}

// sourceFileText reads the sent file, or the installed one.
func (s *Service) sourceFileText(ctx context.Context, name string, f api.SourceFile) ([]byte, error) {
	if f.Content == nil {
		body, err := s.Config.Connectors.SourceFileText(ctx, name)
		return body, sourceFileError(err)
	}
	body, err := io.ReadAll(io.LimitReader(f.Content, review.MaxFile+1))
	switch {
	case err != nil:
		return nil, &api.Error{Status: http.StatusBadRequest, Code: api.CodeFileCut, Param: "file", Err: err,
			Message: "The file could not be read to its end.", Next: "Send it again."}
	case len(body) > review.MaxFile:
		return nil, &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeFileTooLarge, Param: "file",
			Message: fmt.Sprintf("The file is larger than %d MiB, so it is not a source file.", review.MaxFile>>20),
			Next:    "Choose the YAML file that declares the source."}
	}
	return body, nil
}

func (s *Service) reviewSource(ctx context.Context, name string, body []byte) (api.SourceReview, error) {
	answer, err := s.Config.Connectors.ReviewSourceFile(ctx, name, body)
	if err != nil {
		return api.SourceReview{}, sourceFileError(err)
	}
	out := api.SourceReview{Review: *answer.Review, Changes: []review.SourceChange{}}
	if answer.Accepted == nil {
		return out, nil
	}
	out.Installed, out.Changes = true, review.Compare(answer.Accepted, answer.Review)
	if out.SHA256 == answer.Accepted.SHA256 {
		if found, err := s.Config.Connectors.Find(ctx, name); err == nil {
			lack, err := launch.Unconfirmed(ctx, s.Store, found)
			out.Same = err == nil && lack == nil
		}
	}
	return out, nil
}

// AddSourceFile installs a reviewed file and confirms it.
func (s *Service) AddSourceFile(ctx context.Context, f api.SourceFile) (api.SourceReview, error) {
	if err := s.MayAddSources(ctx); err != nil {
		return api.SourceReview{}, err
	}
	name := manifest.CanonicalKey(f.Name)
	body, err := s.sourceFileText(ctx, name, f)
	if err != nil {
		return api.SourceReview{}, err
	}
	reviewed, err := s.reviewSource(ctx, name, body)
	if err != nil {
		return reviewed, err
	}
	if f.SHA256 != reviewed.SHA256 {
		return reviewed, &api.Error{Status: http.StatusConflict, Code: api.CodeSourceFileChanged, Param: "sha256",
			Message: "This is not the file that was reviewed.", Next: "Look at it again, then add it."}
	}
	if reviewed.Same {
		return reviewed, nil
	}
	found, err := s.Config.Connectors.InstallSourceFile(ctx, name, body)
	if err != nil {
		return reviewed, sourceFileError(err)
	}
	if err := launch.Confirm(ctx, s.Store, found, s.Now()); err != nil {
		return reviewed, faults.OwnerError(err, "confirm the source")
	}
	return reviewed, s.tryAcceptedFile(ctx, name)
}

// tryAcceptedFile requests one run of each connection of a source after the owner accepted its file.
func (s *Service) tryAcceptedFile(ctx context.Context, name string) error {
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return faults.OwnerError(err, "list the connections")
	}
	for _, c := range all {
		if c.ConnectorID == name && c.Status == store.ConnectionActive {
			if err := s.requestCheckRun(ctx, c.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveSourceFile removes a source that has no connection.
func (s *Service) RemoveSourceFile(ctx context.Context, name string) error {
	if err := s.MayAddSources(ctx); err != nil {
		return err
	}
	name = manifest.CanonicalKey(name)
	all, err := s.Store.ListConnections(ctx)
	if err != nil {
		return faults.OwnerError(err, "list the connections")
	}
	if slices.ContainsFunc(all, func(c store.Connection) bool {
		return c.ConnectorID == name && c.Status != store.ConnectionRevoked
	}) {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeSourceInUse,
			Message: "The source " + name + " is connected.", Next: "End its connections first. What was collected stays."}
	}
	return sourceFileError(s.Config.Connectors.RemoveSourceFile(ctx, name))
}

// sourceFileError converts an error of the catalog.
func sourceFileError(err error) error {
	var unusable *catalog.SourceFileError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unusable):
		first := unusable.Problems[0]
		e := &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeSourceFileUnusable, Param: "file", Err: err,
			Message: text.Sentence(text.Cut(text.Line(strings.TrimSpace(first.Path+" "+first.Message)), longestProblem)),
			Next:    first.Fix}
		for i, p := range unusable.Problems[1:] {
			if i == mostProblems {
				e.Next += fmt.Sprintf("\nand %d more", len(unusable.Problems)-1-i)
				break
			}
			e.Next += "\n" + text.Cut(text.Line(p.String()), longestProblem)
		}
		return e
	case errors.Is(err, catalog.ErrUnknownConnector):
		return api.NotFound("This source was not added from a file.", "See which ones were: pdpp connectors.")
	}
	return faults.OwnerError(err, "add the source")
}

// checkSettings refuses settings that lead a source from a file to an address that the owner did not allow.
func (s *Service) checkSettings(ctx context.Context, found catalog.Connector, entered map[string]string) error {
	values := map[string]string{}
	for _, f := range CredentialForm(found.Manifest).Fields {
		for _, name := range f.Env {
			values[name] = entered[f.Name]
		}
	}
	problem, err := found.CheckSettings(ctx, values)
	if err != nil {
		return faults.OwnerError(err, "check the settings")
	}
	if problem == nil {
		return nil
	}
	return &api.Error{Status: http.StatusBadRequest, Code: api.CodeCredentialForm, Param: problem.Path,
		Message: text.Sentence(problem.Message), Next: problem.Fix}
}
