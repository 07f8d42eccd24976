package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pdpp-go/pdpp/internal/cli/arguments"
	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/ops/releasefile"
)

const upgradeHelp = `Reads the signed list of the newest release from the address or folder that
PDPP_RELEASES names, checks its signature with the key in PDPP_RELEASES_KEY, and prints
whether it is newer than this program, and the command that installs it.

Nothing is installed, and nothing is sent but the request. No other command or server
looks for releases. The exit code is 0 if the list could be read and is signed.`

const upgradeExamples = `  export PDPP_RELEASES=https://downloads.example.org/latest
  export PDPP_RELEASES_KEY="ssh-ed25519 AAAA..."
  pdpp upgrade --check`

const (
	envReleases    = "PDPP_RELEASES"
	envReleasesKey = "PDPP_RELEASES_KEY"

	releaseTimeout  = 20 * time.Second
	largestList     = 1 << 20
	codeUnreachable = "release_unreachable"
	codeUnsigned    = "release_not_signed"
)

// NewUpgradeCommand returns the command pdpp upgrade.
func NewUpgradeCommand(inv *command.Invocation) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use: "upgrade --check", Short: "Look for a newer release", Long: upgradeHelp, Example: upgradeExamples,
		Args: arguments.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inv.RefuseServer(); err != nil {
				return err
			}
			if !check {
				return failure.UsageError("this program does not replace itself",
					"Look for a newer release with pdpp upgrade --check.")
			}
			return checkRelease(cmd.Context(), inv)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "print whether there is a newer release, and how to install it")
	return cmd
}

func checkRelease(ctx context.Context, inv *command.Invocation) error {
	from, _, err := inv.Variable(envReleases)
	if err != nil {
		return err
	}
	key, _, err := inv.Variable(envReleasesKey)
	if err != nil {
		return err
	}
	from, key = strings.TrimSuffix(strings.TrimSpace(from), "/"), strings.TrimSpace(key)
	if from == "" || key == "" {
		return failure.ConfigurationError("where releases are, and the key that signs them, are not set",
			"Set "+envReleases+" to an https:// address or a folder, and "+envReleasesKey+" to a line like "+
				`"ssh-ed25519 AAAA...".`)
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	var files [2][]byte
	for i, name := range []string{"SHA256SUMS", "SHA256SUMS.sig"} {
		if files[i], err = readRelease(ctx, from, name); err != nil {
			return &failure.Error{Code: codeUnreachable, Exit: failure.ExitFailed, Err: err,
				Message: "the list of the newest release cannot be read: " + failure.SafeText(err.Error()),
				Next:    "Check the network and " + envReleases + ". This program works without it."}
		}
	}
	err = releasefile.Verify(files[0], files[1], key)
	version := ""
	if err == nil {
		version, err = releasefile.Version(files[0])
	}
	if err != nil {
		return &failure.Error{Code: codeUnsigned, Exit: failure.ExitFailed, Err: err,
			Message: "the list of the newest release is not signed by that key: " + failure.SafeText(err.Error()),
			Next:    "Install nothing from " + from + " before you know why."}
	}
	running := command.ReadBuildInfo().Version
	newer := releasefile.Newer(version, running)
	text := fmt.Sprintf("This is %s; the newest release is %s.\n", running, version)
	if newer {
		text += "Next: " + installLine(inv.Env.Executable, from, key, version) + "\n"
	}
	return inv.PrintResult(map[string]any{"running": running, "newest": version, "newer": newer}, "%s", text)
}

// installLine returns the command that installs a release in the way in which this program was installed.
func installLine(executable, from, key, version string) string {
	if executable == "/usr/bin/pdpp" && runtime.GOOS == "linux" {
		name := "pdpp_" + strings.TrimPrefix(version, "v") + "_" + runtime.GOARCH + ".deb"
		return "download " + from + "/" + name + ", then sudo apt install ./" + name
	}
	if runtime.GOOS == "windows" {
		return "download the archive from " + from + ", check it against SHA256SUMS, and replace the programs"
	}
	return fmt.Sprintf("sh install.sh --from %s --key %q --to %s", from, key, filepath.Dir(executable))
}

// readRelease reads a file of a release. Only https:// addresses and folders are accepted.
func readRelease(ctx context.Context, from, name string) ([]byte, error) {
	if !strings.Contains(from, "://") {
		f, err := os.Open(filepath.Join(from, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return readList(f)
	}
	client := &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.URL.Scheme != "https" || len(via) > 5 {
			return errors.New("it is redirected to an address that is not accepted")
		}
		return nil
	}}
	if !strings.HasPrefix(from, "https://") {
		return nil, errors.New("only https:// addresses and folders are accepted")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from+"/"+name, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", name, response.StatusCode)
	}
	return readList(response.Body)
}

func readList(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, largestList+1))
	if err == nil && len(text) > largestList {
		err = errors.New("it is too large")
	}
	return text, err
}
