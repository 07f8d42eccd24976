package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"pdpp/internal/device/collector"
	"pdpp/internal/ops/fault"
)

const envToken = "PDPP_LOCAL_DEVICE_TOKEN"

const setupText = `Writes the profile of a source that the server has enrolled. The device token
never stands on the command line: it comes from PDPP_LOCAL_DEVICE_TOKEN, from the
file that --token-file names, or from standard input with --token-file -.

Variables that the connector needs are added to the file by hand, one
NAME=VALUE per line.`

func (p *program) setupCommand() *cobra.Command {
	var profile collector.Profile
	var tokenFile string
	var replace bool
	cmd := p.command("setup", "Write the profile of an enrolled source", func(context.Context) error {
		dirs, err := collector.DirsFrom(p.lookup)
		if err != nil {
			return err
		}
		token, err := p.token(tokenFile)
		if err != nil {
			return err
		}
		profile.SourceInstanceID, profile.Token = p.source, collector.NewToken(token)
		written, err := collector.WriteProfile(dirs, profile, replace)
		if err != nil {
			return err
		}
		if p.json {
			printJSON(p.stdout, listed{written.SourceInstanceID, written.ConnectorID, written.BaseURL, written.DeviceID, written.Queue, written.Path})
			return nil
		}
		printf(p.stdout, "profile    %s\n", written.Path)
		printf(p.stdout, "next       pdpp-local-collector run --source-instance-id %s\n", written.SourceInstanceID)
		return nil
	})
	cmd.Long = setupText
	flags := cmd.Flags()
	flags.StringVar(&profile.BaseURL, "base-url", "", "the server's address")
	flags.StringVar(&profile.DeviceID, "device-id", "", "this device, as the server names it")
	flags.StringVar(&p.source, "source-instance-id", "", "the source instance, as the server names it")
	flags.StringVar(&profile.ConnectorID, "connector", "", "the connector that collects")
	flags.StringVar(&profile.Queue, "queue", "", "the file of the queue (default: in your state folder)")
	flags.StringVar(&tokenFile, "token-file", "", "the file that holds the device token, - for standard input")
	flags.BoolVar(&replace, "replace", false, "write over the profile that is there")
	for _, name := range []string{"base-url", "device-id", "source-instance-id", "connector"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flags are defined above
		}
	}
	return cmd
}

const maxToken = 8 << 10

func (p *program) token(file string) (string, error) {
	var in io.Reader
	switch file {
	case "":
		value, _ := p.lookup(envToken)
		if value == "" {
			return "", &fault.Fault{Code: "token_missing", Message: "the device token is missing",
				Next: "Set " + envToken + ", or name a file with --token-file."}
		}
		return value, nil
	case "-":
		in = p.stdin
	default:
		f, err := os.Open(file)
		if err != nil {
			return "", &fault.Fault{Code: "token_unreadable", Message: fmt.Sprintf("the token cannot be read: %v", err), Next: "Correct --token-file."}
		}
		defer f.Close()
		in = f
	}
	body, err := io.ReadAll(io.LimitReader(in, maxToken))
	if err != nil {
		return "", &fault.Fault{Code: "token_unreadable", Message: fmt.Sprintf("the token cannot be read: %v", err), Next: "Correct --token-file."}
	}
	return strings.TrimRight(string(body), "\r\n"), nil
}
