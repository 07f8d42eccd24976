// Package bucket stores the files of records in a bucket of an S3-compatible server, so that machines which share a
// database share the files. Objects are named like files in a folder, ab/abcdef... The server receives the hash of
// each object and rejects content that does not match.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/pdpp-go/pdpp/internal/blob"
)

// Bucket is a blob.Storage on a server.
type Bucket struct {
	client *s3.Client
	name   string
	prefix string // "" or ends with a slash
	spool  string // local folder for content in transit
	// responseTimeout is how long a server may be silent during a response.
	responseTimeout time.Duration
}

var (
	_ blob.Storage       = (*Bucket)(nil)
	_ blob.UploadStorage = (*Bucket)(nil)
)

// AccessKeys authenticate this program to the server.
type AccessKeys struct{ ID, Secret, Session string }

// defaultRegion is what servers without regions expect.
const defaultRegion = "us-east-1"

// defaultResponseTimeout is longer than a busy server needs to start or continue a response.
const defaultResponseTimeout = time.Minute

// Open returns the bucket of an address: s3://NAME/PREFIX?endpoint=https://HOST&region=REGION. Without an endpoint it
// is Amazon's. Content in transit is stored in the folder spool.
func Open(address string, keys AccessKeys, spool string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("it must read s3://BUCKET, s3://BUCKET/PREFIX or " +
			"s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION")
	}
	query := u.Query()
	endpoint, region := query.Get("endpoint"), query.Get("region")
	query.Del("endpoint")
	query.Del("region")
	for unknown := range query {
		return nil, fmt.Errorf("it may have endpoint and region, not %q", unknown)
	}
	if keys.ID == "" || keys.Secret == "" {
		return nil, errors.New("it needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if region == "" {
		region = defaultRegion
	}
	options := s3.Options{
		Region: region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: keys.ID, SecretAccessKey: keys.Secret, SessionToken: keys.Session}, nil
		}),
		HTTPClient: newClient(),
		// The SHA-256 verifies the content; many servers do not support other checksums.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	}
	if endpoint != "" {
		at, err := url.Parse(endpoint)
		if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil {
			return nil, fmt.Errorf("its endpoint %q is not an address such as https://HOST", endpoint)
		}
		options.BaseEndpoint, options.UsePathStyle = aws.String(at.Scheme+"://"+at.Host+at.Path), true
	}
	b := &Bucket{client: s3.New(options), name: u.Host, spool: spool, responseTimeout: defaultResponseTimeout}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	return b, nil
}

// newClient returns a client that follows no redirect, so that content goes only to the server that the owner named.
// It also limits the wait for a response. A redirect is an error.
func newClient() *http.Client {
	transport := awshttp.NewBuildableClient().GetTransport()
	transport.ResponseHeaderTimeout = defaultResponseTimeout
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

// isUnknownObject reports whether the server has no such object.
func isUnknownObject(err error) bool {
	var answer *awshttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound
}

// plainError returns an error of the server without the library's request details.
func plainError(what string, err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" {
		return fmt.Errorf("%s: the server of the files says %s: %w", what, api.ErrorCode(), err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// freshAge is the age below which Put does not send an object again. It is far below the age at which a sweep removes
// it, whatever the clocks of both machines.
const freshAge = blob.OrphanAge / 2

func (b *Bucket) isFresh(at time.Time) bool { return time.Since(at) < freshAge }
