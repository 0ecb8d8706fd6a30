// SPDX-License-Identifier: Apache-2.0
//
// Stands for a libtorch_cpu.so that was built without Gloo.

int torchWithoutGloo() {
  return 0;
}
