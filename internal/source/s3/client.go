package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// defaultRegion is the region of requests for which none is configured. Services
// that are compatible with S3 accept any.
const defaultRegion = "us-east-1"

// Retries of one request. An import repeats a step with longer delays.
const (
	attempts   = 3
	maxBackoff = 2 * time.Second
)

// newClient returns a client for the bucket. It dials the endpoint through
// httpClient. The provider's chain of credentials uses its own connections,
// because it asks the machine that the operator chose.
func newClient(ctx context.Context, r source.Request, httpClient *http.Client) (*s3.Client, error) {
	options := []func(*config.LoadOptions) error{
		config.WithDefaultRegion(defaultRegion),
		config.WithRetryer(newRetryer),
		config.WithLogger(logging.Nop{}), // errors are returned
		// Services that are compatible with S3 do not know the newer checksums.
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
	}
	if r.Options.Region != "" {
		options = append(options, config.WithRegion(r.Options.Region))
	}
	provider, err := staticCredentials(ctx, r)
	if err == nil && provider == nil && !r.Identity {
		err = noCredentials(r)
	}
	if err != nil {
		return nil, err
	}
	if provider != nil {
		options = append(options, config.WithCredentialsProvider(provider))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the configuration of the AWS SDK on the server cannot be read; ask an operator to check it").WithCause(err)
	}
	if r.Options.RoleARN != "" {
		assumeRole(&loaded, r.Options, httpClient)
	}
	if err := checkCredentials(ctx, loaded, r); err != nil {
		return nil, err
	}
	return s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.HTTPClient = httpClient
		o.UsePathStyle = r.Options.PathStyle
		o.BaseEndpoint = endpoint(r.Options)
		o.DisableLogOutputChecksumValidationSkipped = true
	}), nil
}

// newRetryer returns the SDK's usual retryer, but a refused address is not tried
// again.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff
		refused := func(err error) aws.Ternary {
			if _, ok := errors.AsType[*knowledge.Error](err); ok {
				return aws.FalseTernary
			}
			return aws.UnknownTernary
		}
		o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(refused)}, o.Retryables...)
	})
}

func endpoint(o source.Options) *string {
	if o.Endpoint == "" {
		return nil
	}
	return &o.Endpoint
}

// assumeRole replaces the credentials by the credentials of the role. A compatible service
// assumes roles at the endpoint of its buckets.
func assumeRole(c *aws.Config, o source.Options, httpClient *http.Client) {
	client := sts.NewFromConfig(*c, func(options *sts.Options) {
		options.HTTPClient = httpClient
		options.BaseEndpoint = endpoint(o)
	})
	provider := stscreds.NewAssumeRoleProvider(client, o.RoleARN, func(options *stscreds.AssumeRoleOptions) {
		options.RoleSessionName = "cairn"
		if o.ExternalID != "" {
			options.ExternalID = &o.ExternalID
		}
	})
	c.Credentials = aws.NewCredentialsCache(provider)
}

// checkCredentials fetches the credentials, which the client then keeps. A missing
// credential and a refused role have messages of their own.
func checkCredentials(ctx context.Context, c aws.Config, r source.Request) error {
	if r.Options.Anonymous {
		return nil
	}
	_, err := c.Credentials.Retrieve(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case r.Options.RoleARN != "":
		return failure(err, "role", r.Options.RoleARN)
	}
	return noCredentials(r).WithCause(err)
}

func noCredentials(r source.Request) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeForbidden, "the server has no credentials for %q: name a secret in source.secret, set source.options.anonymous, or give the server credentials", r.URI)
}

// keys is the JSON form of a secret.
type keys struct {
	AccessKeyID     string `json:"access_key_id"`
	SecretAccessKey string `json:"secret_access_key"`
	SessionToken    string `json:"session_token"`
}

// staticCredentials returns the credentials of the request, nil for the
// provider's usual chain.
func staticCredentials(ctx context.Context, r source.Request) (aws.CredentialsProvider, error) {
	secret := bytes.TrimSpace(r.Credentials)
	switch {
	case r.Options.Anonymous:
		return aws.AnonymousCredentials{}, nil
	case r.Credentials == nil:
		return nil, nil
	case bytes.HasPrefix(secret, []byte("{")):
		var k keys
		if err := json.Unmarshal(secret, &k); err != nil || k.AccessKeyID == "" || k.SecretAccessKey == "" {
			return nil, wrongSecret(r.Secret)
		}
		return credentials.NewStaticCredentialsProvider(k.AccessKeyID, k.SecretAccessKey, k.SessionToken), nil
	}
	return credentialsFile(ctx, r.Secret, secret)
}

// credentialsFile returns the credentials of the default profile in a file like
// ~/.aws/credentials. The SDK reads only files, so the secret is in one for a
// moment.
func credentialsFile(ctx context.Context, name string, content []byte) (aws.CredentialsProvider, error) {
	file, err := os.CreateTemp("", "cairn-secret-*") // readable by its owner alone
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // as long as it is there, only its owner can read it
	_, err = file.Write(content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, err
	}
	profile, err := config.LoadSharedConfigProfile(ctx, "default", func(o *config.LoadSharedConfigOptions) {
		o.CredentialsFiles, o.ConfigFiles = []string{file.Name()}, []string{}
	})
	if err != nil || !profile.Credentials.HasKeys() {
		return nil, wrongSecret(name)
	}
	return credentials.StaticCredentialsProvider{Value: profile.Credentials}, nil
}

func wrongSecret(name string) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "the secret %q holds no credentials for S3: it must be JSON with access_key_id and secret_access_key, or a file with a [default] profile", name)
}
