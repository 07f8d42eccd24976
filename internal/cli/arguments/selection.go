package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// SelectionFlags are the flags that choose what a connection collects.
type SelectionFlags struct {
	profile          string
	views, resources []string
}

func (f *SelectionFlags) Declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.profile, "profile", "", "collect only the streams of this profile")
	flags.StringArrayVar(&f.views, "view", nil, "collect only the fields of this view, as STREAM=VIEW (may be repeated)")
	flags.StringArrayVar(&f.resources, "resource", nil,
		"collect only this record of its stream, as STREAM=KEY (may be repeated)")
}

func (f *SelectionFlags) Given() bool { return f.profile != "" || len(f.views)+len(f.resources) > 0 }

func (f *SelectionFlags) Selection() (api.Selection, error) {
	s, err := ParseResources(f.resources)
	if err != nil {
		return s, err
	}
	s.Profile = f.profile
	for _, pair := range f.views {
		stream, view, ok := strings.Cut(pair, "=")
		if !ok || stream == "" || view == "" {
			return s, failure.UsageError(fmt.Sprintf("--view %q is not a view", pair),
				"Write the stream and its view: --view STREAM=VIEW")
		}
		at := selectedStream(&s, stream)
		if at.View != "" {
			return s, failure.UsageError("--view names the stream "+stream+" twice", "Choose one of its views.")
		}
		at.View = view
	}
	return s, nil
}

// selectedStream returns the stream of a selection, and adds it if it is missing.
func selectedStream(s *api.Selection, stream string) *api.SelectedStream {
	i := slices.IndexFunc(s.Streams, func(c api.SelectedStream) bool { return c.Stream == stream })
	if i < 0 {
		s.Streams = append(s.Streams, api.SelectedStream{Stream: stream})
		i = len(s.Streams) - 1
	}
	return &s.Streams[i]
}

// ParseResources parses STREAM=KEY pairs.
func ParseResources(pairs []string) (api.Selection, error) {
	s := api.Selection{Streams: []api.SelectedStream{}}
	for _, pair := range pairs {
		stream, key, ok := strings.Cut(pair, "=")
		if !ok || stream == "" || strings.TrimSpace(key) == "" {
			return s, failure.UsageError(fmt.Sprintf("--resource %q is not a record", pair),
				"Write the stream and the record's key: --resource STREAM=KEY")
		}
		at := selectedStream(&s, stream)
		at.Resources = append(at.Resources, key)
	}
	return s, nil
}
