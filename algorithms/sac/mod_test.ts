import * as tf from "@tensorflow/tfjs";
import { testForm } from "./testdata/form_tests.ts";
import { FORMS } from "./testdata/forms.ts";

await tf.setBackend("cpu");

FORMS.forEach(testForm);
