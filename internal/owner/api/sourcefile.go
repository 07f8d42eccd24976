package api

import (
	"context"
	"io"

	"github.com/pdpp-go/pdpp/declarative/review"
)

// SourceFiles is adding sources from files that declare them.
type SourceFiles interface {
	// ReviewSourceFile returns what a source file would do. It stores nothing. An *Error with code source_file_unusable
	// lists the problems of the file.
	ReviewSourceFile(ctx context.Context, f SourceFile) (SourceReview, error)
	// AddSourceFile installs a reviewed file as a connector, or replaces the file of the source with the same name.
	// SHA256 must be that of the review.
	AddSourceFile(ctx context.Context, f SourceFile) (SourceReview, error)
	// RemoveSourceFile removes a source that was added from a file and has no connection.
	RemoveSourceFile(ctx context.Context, name string) error
}

// SourceFile is a file that declares a source.
type SourceFile struct {
	Name   string `query:"name" required:"true"` // of the connector
	SHA256 string `query:"sha256"`               // of the file that the owner reviewed, in hexadecimal digits
	Bytes  int64  // as far as it is known beforehand; zero for not
	// Content is the file. Nil means the file of the installed source of that name, as it is now.
	Content io.Reader
}

// SourceReview is what a source file would do.
type SourceReview struct {
	review.Review
	// Installed means that a source of that name was added before. Changes are the differences to its file as the
	// owner accepted it.
	Installed bool                  `json:"installed"`
	Changes   []review.SourceChange `json:"changes"` // differences to the file that was accepted before
	// Same means that exactly this file is installed and accepted.
	Same bool `json:"same"`
}

// Codes of errors about source files.
const (
	CodeSourceFileUnusable = "source_file_unusable"
	CodeSourceFileChanged  = "source_file_changed"
	CodeSourceInUse        = "source_in_use"
)
