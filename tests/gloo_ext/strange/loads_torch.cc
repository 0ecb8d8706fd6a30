// SPDX-License-Identifier: Apache-2.0

int torchWithoutGloo();

int main() {
  return torchWithoutGloo();
}
