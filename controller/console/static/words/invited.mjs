// Words of the invitation's page.

export default {
  "invited.title": ["设置密码", "Set your PIN"],
  "invited.how": ["邀请码只能用一次。密码请勿告诉他人：凭此密码所做的一切都记在你名下。", "An invitation code works once. Tell nobody the PIN: everything that is done with it is recorded under your name."],
  "invited.code": ["邀请码", "Invitation code"],
  "invited.pin": ["新密码（数字）", "New PIN (digits)"],
  "invited.pin-hint": ["密码须为4至12位数字", "A PIN has 4 to 12 digits"],
  "invited.again": ["再输入一次", "Repeat the PIN"],
  "invited.differ": ["两次输入不一致", "The two PINs differ"],
  "invited.no-code": ["请输入邀请码", "Enter the invitation code"],
  "invited.accept": ["确定并登录", "Set it and log in"],
  "invited.known": ["已有密码？登录", "Do you have a PIN? Log in"],
};
