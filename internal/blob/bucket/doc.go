// Package bucket keeps the files of records in a bucket of an S3-compatible server, so that
// machines which share a database share them too. Objects are named as files of a folder are,
// ab/abcdef..., and the server is told what each must hold: one that arrives otherwise is refused.
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

// Bucket is a place on a server.
type Bucket struct {
	client *s3.Client
	name   string
	prefix string // "" or ends with a slash
	spool  string // a folder of this machine for what is on its way
	// patience is how long a server may be silent while it answers.
	patience time.Duration
}

var (
	_ blob.Place   = (*Bucket)(nil)
	_ blob.Uploads = (*Bucket)(nil)
)

// Keys are what the server knows this program by.
type Keys struct{ ID, Secret, Session string }

// defaultRegion is what servers that know no regions expect.
const defaultRegion = "us-east-1"

// defaultPatience is longer than a busy server needs to begin an answer or to go on with one.
const defaultPatience = time.Minute

// Open gives the bucket that an address names: s3://NAME/PREFIX?endpoint=https://HOST&region=REGION.
// Without an endpoint it is Amazon's. What is on its way is kept in the folder spool.
func Open(address string, keys Keys, spool string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("it must read s3://BUCKET, s3://BUCKET/PREFIX or s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION")
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
		// What an object must hold is told by its SHA-256; other sums are unknown to many servers.
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
	b := &Bucket{client: s3.New(options), name: u.Host, spool: spool, patience: defaultPatience}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}
	return b, nil
}

// newClient returns a client that follows no redirect, so that content goes to the server that the owner named, and
// ends the wait for a server that accepted a request and does not answer. A redirect is an error of the server.
func newClient() *http.Client {
	transport := awshttp.NewBuildableClient().GetTransport()
	transport.ResponseHeaderTimeout = defaultPatience
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay}
}

// unknown says whether the server has no such object.
func unknown(err error) bool {
	var answer *awshttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusNotFound
}

// plain is an error of the server without what the library adds of the request.
func plain(what string, err error) error {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorCode() != "" {
		return fmt.Errorf("%s: the server of the files says %s: %w", what, api.ErrorCode(), err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// fresh is how young an object must be to be left alone by Put. It is far from the age at which
// a sweep may take it, whatever the clocks of both machines say.
const fresh = blob.OrphanAge / 2

func (b *Bucket) isFresh(at time.Time) bool { return time.Since(at) < fresh }
