//go:build modules

package check

// The tests read the definition of ScaledObject in this module.
import _ "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
